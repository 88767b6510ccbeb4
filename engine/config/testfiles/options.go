package testfiles

import "github.com/hashicorp/hcl/v2"

// PlanOptions are the options of a run's plan.
type PlanOptions struct {
	RefreshOnly bool
	SkipRefresh bool
	Replace     []hcl.Traversal
	Target      []hcl.Traversal
	Range       hcl.Range // zero if there is no such block
}

var planOptionsSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{
	{Name: "mode"}, {Name: "refresh"}, {Name: "replace"}, {Name: "target"},
}}

// planOptions reads a plan_options block.
func (r *reader) planOptions(b *hcl.Block) PlanOptions {
	o := PlanOptions{Range: b.DefRange}
	attrs := r.content(b.Body, planOptionsSchema).Attributes
	if a := attrs["mode"]; a != nil {
		o.RefreshOnly = r.word(a, `Invalid "mode" keyword`, "normal", "refresh-only") == "refresh-only"
	}
	refresh := true
	r.literal(attrs["refresh"], &refresh)
	o.SkipRefresh = !refresh
	if o.RefreshOnly && o.SkipRefresh {
		r.errorf(&attrs["refresh"].Range, "Incompatible plan options", "A refresh-only run does nothing but refresh: it cannot have refresh = false.")
	}
	if a := attrs["replace"]; a != nil {
		o.Replace = r.references(a)
	}
	if a := attrs["target"]; a != nil {
		o.Target = r.references(a)
	}
	return o
}
