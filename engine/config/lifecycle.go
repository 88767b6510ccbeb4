package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

var lifecycleSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{
		{Name: "create_before_destroy"}, {Name: "prevent_destroy"}, {Name: "ignore_changes"}, {Name: "replace_triggered_by"},
		{Name: "enabled"},
	},
	Blocks: []hcl.BlockHeaderSchema{{Type: "precondition"}, {Type: "postcondition"}},
}

// lifecycle reads a lifecycle block of a resource.
func (r *reader) lifecycle(x *Resource, b *hcl.Block) {
	content := r.content(b.Body, lifecycleSchema)
	attrs := content.Attributes
	r.enabled(&x.Repetition, attrs["enabled"])
	if x.Addr.Mode != addrs.Managed {
		summary := "Invalid data resource lifecycle argument"
		if x.Addr.Mode == addrs.Ephemeral {
			summary = "Invalid ephemeral resource lifecycle argument"
		}
		for name, a := range attrs {
			if name == "enabled" {
				continue
			}
			r.errorf(&a.NameRange, summary, "The lifecycle argument %q is for resource blocks only, not for %s blocks.", name, modeWords[x.Addr.Mode])
		}
	} else {
		if r.override {
			for n := range attrs {
				x.given[n] = true
			}
		}
		x.CreateBeforeDestroySet = r.literal(attrs["create_before_destroy"], &x.CreateBeforeDestroy)
		if a := attrs["prevent_destroy"]; a != nil && len(a.Expr.Variables()) > 0 {
			x.PreventDestroyIf = a.Expr
		} else {
			r.literal(a, &x.PreventDestroy)
		}
		if a := attrs["ignore_changes"]; a != nil {
			r.ignoreChanges(x, a.Expr)
		}
		if a := attrs["replace_triggered_by"]; a != nil {
			r.replaceTriggeredBy(x, a.Expr)
		}
	}
	for _, n := range content.Blocks {
		c := r.condition(n)
		if n.Type == "precondition" {
			x.Preconditions = append(x.Preconditions, c)
		} else {
			x.Postconditions = append(x.Postconditions, c)
		}
		r.checkSelf(x, n, c)
	}
}

// ignoreChanges reads a list of attributes, or the keyword all.
func (r *reader) ignoreChanges(x *Resource, e hcl.Expression) {
	if hcl.ExprAsKeyword(e) == "all" {
		x.IgnoreAllChanges = true
		return
	}
	list, ds := hcl.ExprList(e)
	r.diags = append(r.diags, ds...)
	var star *hcl.Range
	for _, item := range list {
		// ["*"] is how all was written once.
		if v, ds := item.Value(nil); !ds.HasErrors() && isString(v, "*") {
			x.IgnoreAllChanges = true
			star = item.Range().Ptr()
			r.errorf(star, "Invalid ignore_changes wildcard", `The list form ["*"] was removed from the language: write ignore_changes = all.`)
			continue
		}
		item, ds := unquoteRelative(item)
		r.diags = append(r.diags, ds...)
		t, ds := hcl.RelTraversalForExpr(item)
		r.diags = append(r.diags, ds...)
		if len(t) != 0 {
			x.IgnoreChanges = append(x.IgnoreChanges, t)
		}
	}
	if star != nil && len(list) > 1 {
		r.errorf(star, "Invalid ignore_changes ruleset", "A wildcard makes the other entries of the list pointless.")
	}
}

// unquoteRelative turns an attribute path in quotes into the path, with a warning.
func unquoteRelative(e hcl.Expression) (hcl.Expression, hcl.Diagnostics) {
	if _, ok := e.(*hclsyntax.TemplateExpr); !ok {
		return e, nil
	}
	return unquoteReference(e)
}

// replaceTriggeredBy reads a list of references to resources. Their keys may use
// each and count, so that they stay expressions.
func (r *reader) replaceTriggeredBy(x *Resource, e hcl.Expression) {
	list, ds := hcl.ExprList(e)
	r.diags = append(r.diags, ds...)
	for _, item := range list {
		item, ds := native(item)
		r.diags = append(r.diags, ds...)
		if !ds.HasErrors() && r.checkTrigger(item) {
			x.ReplaceTriggeredBy = append(x.ReplaceTriggeredBy, item)
		}
	}
}
