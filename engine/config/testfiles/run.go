package testfiles

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/decoding"
	"github.com/lockstep-iac/lockstep/engine/internal/traversals"
)

// A Run plans, or plans and applies, the tested configuration or another module, and checks the result.
type Run struct {
	Name     string
	PlanOnly bool // command = plan
	Options  PlanOptions
	// Variables are the values for this run; nil if it has no variables block.
	Variables map[string]hcl.Expression
	Overrides []*Override
	// Providers is the providers argument: the provider configurations of the test file that the run uses.
	// Without it, the module receives the file's configurations that have the names it uses.
	Providers []config.PassedProvider
	Asserts   []*config.Condition
	// ExpectFailures are the objects whose conditions must fail.
	ExpectFailures []hcl.Traversal
	// StateKey is the name of the state that the run uses. Without it, the module determines the state.
	StateKey string
	// Module is the call of another module than the tested configuration; nil if there is none. Config is
	// that module; nil if it could not be read.
	Module *config.Call
	Config *config.Config
	Range  hcl.Range

	parallel *bool
}

// Parallel reports whether the run may run at the same time as others.
func (r *Run) Parallel() bool { return *r.parallel }

var runSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "command"}, {Name: "providers"}, {Name: "expect_failures"}, {Name: "state_key"}, {Name: "parallel"}},
	Blocks: append([]hcl.BlockHeaderSchema{
		{Type: "plan_options"}, {Type: "assert"}, {Type: "variables"}, {Type: "module"},
	}, overrideBlocks...),
}

// run reads a run block.
func (r *reader) run(b *hcl.Block) *Run {
	x := &Run{Name: b.Labels[0], Range: b.DefRange}
	if !hclsyntax.ValidIdentifier(x.Name) {
		r.errorf(&b.LabelRanges[0], "Invalid run block name", badIdentifier)
	}
	content := r.content(b.Body, runSchema)
	r.runBlocks(x, content.Blocks)
	if a := content.Attributes["command"]; a != nil {
		x.PlanOnly = r.word(a, `Invalid "command" keyword`, "apply", "plan") == "plan"
	}
	if a := content.Attributes["providers"]; a != nil {
		var ds hcl.Diagnostics
		x.Providers, ds = decoding.PassedProviders(a.Expr)
		r.add(ds)
	}
	if a := content.Attributes["expect_failures"]; a != nil {
		x.ExpectFailures = r.references(a)
	}
	r.literal(content.Attributes["state_key"], &x.StateKey)
	if parallel := false; r.literal(content.Attributes["parallel"], &parallel) {
		x.parallel = &parallel
	}
	return x
}

// runBlocks reads the blocks in a run block.
func (r *reader) runBlocks(x *Run, blocks hcl.Blocks) {
	seen, overridden := map[string]hcl.Range{}, overridden{}
	for _, b := range blocks {
		switch b.Type {
		case "assert":
			c, ds := decoding.Condition(b)
			r.add(ds)
			x.Asserts = append(x.Asserts, c)
		case "plan_options":
			if r.once(seen, b, "run") {
				x.Options = r.planOptions(b)
			}
		case "variables":
			if r.once(seen, b, "run") {
				x.Variables = r.variables(b)
			}
		case "module":
			if r.once(seen, b, "run") {
				x.Module = r.module(b, x.Name)
			}
		default:
			if o := r.override(b); overridden.first(r, o, b) {
				x.Overrides = append(x.Overrides, o)
			}
		}
	}
}

// word reads an argument that must be one of two words without quotes. The result is "" if it is not.
func (r *reader) word(a *hcl.Attribute, summary, one, other string) string {
	if w := hcl.ExprAsKeyword(a.Expr); w == one || w == other {
		return w
	}
	r.errorf(a.Expr.Range().Ptr(), summary, "The argument %s is the word %s or the word %s, without quotes.", a.Name, one, other)
	return ""
}

// references reads a list of references.
func (r *reader) references(a *hcl.Attribute) []hcl.Traversal {
	list, ds := hcl.ExprList(a.Expr)
	r.add(ds)
	var out []hcl.Traversal
	for _, e := range list {
		e, ds := traversals.Unquoted(e)
		r.add(ds)
		t, ds := hcl.AbsTraversalForExpr(e)
		if r.add(ds); len(t) > 0 {
			out = append(out, t)
		}
	}
	return out
}

var moduleSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "source"}, {Name: "version"}}}

// module reads the module block of the run called name. The result is nil if it has no valid source.
func (r *reader) module(b *hcl.Block, name string) *config.Call {
	content := r.content(b.Body, moduleSchema)
	c := &config.Call{Name: name, Range: b.DefRange}
	if a := content.Attributes["version"]; a != nil {
		v, ds := a.Expr.Value(nil)
		r.add(ds)
		if !ds.HasErrors() {
			version, ds := config.NewVersionConstraint(v, a.Name, a.Expr.Range())
			if r.add(ds); !ds.HasErrors() {
				c.Version = []config.VersionConstraint{version}
			}
		}
	}
	a := content.Attributes["source"]
	if a == nil {
		r.errorf(&b.DefRange, `Missing "source" attribute for module block`, "The argument source names the module that the run plans and applies in place of the configuration under test.")
		return nil
	}
	if !r.literal(a, &c.Source) {
		return nil
	}
	c.SourceRange = a.Range
	ds := c.ParseSource(content.Attributes["version"] != nil, r.registry)
	if r.add(ds); ds.HasErrors() {
		return nil
	}
	return c
}
