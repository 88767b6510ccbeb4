package decoding

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/internal/traversals"
)

var lifecycleSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{
		{Name: "create_before_destroy"}, {Name: "prevent_destroy"}, {Name: "ignore_changes"}, {Name: "replace_triggered_by"},
		{Name: "enabled"}, {Name: "destroy"},
	},
	Blocks: []hcl.BlockHeaderSchema{{Type: "precondition"}, {Type: "postcondition"}, {Type: "action_trigger"}},
}

// lifecycle reads a lifecycle block. Data and ephemeral resources exist only during a run, so they can have
// only conditions and enabled.
//
// prevent_destroy is a literal in Terraform. An expression with references is kept, and planning evaluates
// it.
func (x *resource) lifecycle(b *hcl.Block) {
	content := x.contentOf(b.Body, lifecycleSchema)
	attrs := content.Attributes
	x.enabled(&x.Repetition, attrs["enabled"])
	if x.Addr.Mode != addrs.Managed {
		summary := "Invalid data resource lifecycle argument"
		if x.Addr.Mode == addrs.Ephemeral {
			summary = "Invalid ephemeral resource lifecycle argument"
		}
		for name, a := range attrs {
			if name == "enabled" {
				continue
			}
			x.errorf(&a.NameRange, summary, "The lifecycle argument %q is for resource blocks only, not for %s blocks.", name, modeWords[x.Addr.Mode])
		}
	} else {
		if x.override {
			for n := range attrs {
				x.given[n] = true
			}
		}
		x.CreateBeforeDestroySet = x.literal(attrs["create_before_destroy"], &x.CreateBeforeDestroy)
		if a := attrs["prevent_destroy"]; a != nil && len(a.Expr.Variables()) > 0 {
			x.PreventDestroyIf = a.Expr
		} else {
			x.literal(a, &x.PreventDestroy)
		}
		destroy := true
		x.literal(attrs["destroy"], &destroy)
		x.Keep = !destroy
		if a := attrs["ignore_changes"]; a != nil {
			x.ignoreChanges(a.Expr)
		}
		if a := attrs["replace_triggered_by"]; a != nil {
			x.replaceTriggeredBy(a.Expr)
		}
	}
	for _, n := range content.Blocks {
		if n.Type == "action_trigger" {
			x.trigger(n)
			continue
		}
		c := x.condition(n)
		if n.Type == "precondition" {
			x.Preconditions = append(x.Preconditions, c)
		} else {
			x.Postconditions = append(x.Postconditions, c)
		}
		x.checkSelf(n, c)
	}
}

// ignoreChanges reads a list of attributes, or the keyword all. The attributes are relative to the resource.
// Whether they exist is checked later, against the schema.
func (x *resource) ignoreChanges(e hcl.Expression) {
	if hcl.ExprAsKeyword(e) == "all" {
		x.IgnoreAllChanges = true
		return
	}
	list, ds := hcl.ExprList(e)
	x.add(ds)
	var star *hcl.Range
	for _, item := range list {
		// In old configurations, ["*"] means all.
		if v, ds := item.Value(nil); !ds.HasErrors() && isString(v, "*") {
			x.IgnoreAllChanges = true
			star = item.Range().Ptr()
			x.errorf(star, "Invalid ignore_changes wildcard", `The list form ["*"] was removed from the language: write ignore_changes = all.`)
			continue
		}
		item, ds := unquoteRelative(item)
		x.add(ds)
		t, ds := hcl.RelTraversalForExpr(item)
		x.add(ds)
		if len(t) != 0 {
			x.IgnoreChanges = append(x.IgnoreChanges, t)
		}
	}
	if star != nil && len(list) > 1 {
		x.errorf(star, "Invalid ignore_changes ruleset", "A wildcard makes the other entries of the list pointless.")
	}
}

// unquoteRelative turns a quoted attribute path, such as "tags", into the path tags, with a warning.
func unquoteRelative(e hcl.Expression) (hcl.Expression, hcl.Diagnostics) {
	if _, ok := e.(*hclsyntax.TemplateExpr); !ok {
		return e, nil
	}
	return traversals.Unquoted(e)
}

// replaceTriggeredBy reads a list of references to resources. Instance keys in them may use each.key and
// count.index, which differ between the instances of this resource. So the entries stay expressions until
// each instance is planned.
func (x *resource) replaceTriggeredBy(e hcl.Expression) {
	list, ds := hcl.ExprList(e)
	x.add(ds)
	for _, item := range list {
		item, ds := traversals.Native(item)
		x.add(ds)
		if !ds.HasErrors() && x.checkTrigger(item) {
			x.ReplaceTriggeredBy = append(x.ReplaceTriggeredBy, item)
		}
	}
}

// checkTrigger reports whether an entry of replace_triggered_by refers to exactly one resource. The entry may
// also use each.key and count.index, but nothing else. If the result is false, the errors are reported.
func (x *resource) checkTrigger(e hcl.Expression) bool {
	ok, resources := true, 0
	for _, t := range e.Variables() {
		if _, isResource := traversals.Resource(t); isResource {
			resources++
			continue
		}
		word, next := traversals.RootName(t)
		switch {
		case !traversals.IsKeyword(word):
			x.errorf(t.SourceRange().Ptr(), "Invalid reference", "A resource is referred to by its type and its name, joined by a dot.")
			return false
		case word == "each" && next == "key" || word == "count" && next == "index":
		case word == "each":
			x.errorf(t.SourceRange().Ptr(), "Invalid each reference in replace_triggered_by expression", "Keys may be made of each.key; each.value is not known early enough.")
			ok = false
		case word == "count":
			x.errorf(t.SourceRange().Ptr(), "Invalid count reference in replace_triggered_by expression", "count has no attribute but index.")
			ok = false
		default:
			x.errorf(t.SourceRange().Ptr(), "Invalid reference in replace_triggered_by expression",
				"An entry names a resource, or an attribute of one; the keys in it may be made of count.index and each.key.")
			ok = false
		}
	}
	if resources != 1 {
		x.errorf(e.Range().Ptr(), "Invalid replace_triggered_by expression", "Each entry must refer to exactly one resource, this one refers to %d.", resources)
		return false
	}
	return ok
}

// checkSelf refuses a condition that refers to its own resource.
func (x *resource) checkSelf(b *hcl.Block, c *config.Condition) {
	for _, e := range []hcl.Expression{c.Condition, c.ErrorMessage} {
		if e == nil {
			continue
		}
		for _, t := range e.Variables() {
			if res, ok := traversals.Resource(t); ok && res == x.Addr {
				x.errorf(t.SourceRange().Ptr(), "Invalid reference in "+b.Type,
					"The %s of %s may not refer to the resource by its address; in a postcondition, use self.", b.Type, x.Addr)
			}
		}
	}
}
