package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/parsing"
)

func validName(s string) bool { return hclsyntax.ValidIdentifier(s) }

// unquoteReference turns a reference in quotes into the reference, with a warning.
// Other expressions, JSON's among them, are returned as they are.
func unquoteReference(e hcl.Expression) (hcl.Expression, hcl.Diagnostics) {
	t, ok := e.(*hclsyntax.TemplateExpr)
	if !ok {
		return e, nil
	}
	v, ds := t.Value(nil)
	if ds.HasErrors() || !t.IsStringLiteral() {
		return e, ds
	}
	// The traversal starts behind the quote.
	start := t.Range().Start
	start.Column++
	start.Byte++
	trav, ds := hclsyntax.ParseTraversalAbs([]byte(v.AsString()), t.Range().Filename, start)
	ds = append(ds, warning(t.Range().Ptr(), "Quoted references are deprecated",
		"References stand without quotes; quotes were needed up to Terraform 0.11. Remove them."))
	return &hclsyntax.ScopeTraversalExpr{Traversal: trav, SrcRange: t.Range()}, ds
}

// dependsOn reads a depends_on argument; nil if it is absent.
func (r *reader) dependsOn(a *hcl.Attribute) []hcl.Traversal {
	if a == nil {
		return nil
	}
	list, ds := hcl.ExprList(a.Expr)
	r.diags = append(r.diags, ds...)
	var out []hcl.Traversal
	for _, e := range list {
		e, ds := unquoteReference(e)
		r.diags = append(r.diags, ds...)
		t, ds := hcl.AbsTraversalForExpr(e)
		r.diags = append(r.diags, ds...)
		if len(t) == 0 {
			continue
		}
		if n := objectSteps(t); n < len(t) {
			r.lateErrorf(t[n:].SourceRange().Ptr(), "Invalid depends_on reference", "An entry of depends_on names an object as a whole, such as a resource or a module: leave out what follows.")
			continue
		}
		if t.RootName() == "self" {
			r.lateErrorf(t.SourceRange().Ptr(), "Invalid \"self\" reference", "self has no meaning in depends_on: nothing can wait for itself.")
			continue
		}
		out = append(out, t)
	}
	return out
}

// objectSteps returns how many steps of a reference name the object itself, the rest
// being a path within its value; len(t) if the reference is too short.
func objectSteps(t hcl.Traversal) int {
	n, keyed, attr := 2, true, false
	switch t.RootName() {
	case "var", "local", "path", "terraform", "each", "count":
		keyed = false
	case "self":
		n, keyed = 1, false
	case "module":
		attr = true // an output
	case "data", "ephemeral", "resource":
		n = 3
	}
	step := func(ok func(hcl.Traverser) bool) {
		if n < len(t) && ok(t[n]) {
			n++
		}
	}
	if keyed {
		step(func(s hcl.Traverser) bool { _, ok := s.(hcl.TraverseIndex); return ok })
	}
	if attr {
		step(func(s hcl.Traverser) bool { _, ok := s.(hcl.TraverseAttr); return ok })
	}
	return min(n, len(t))
}

// unquoteKeyword is unquoteReference for bare words.
func unquoteKeyword(e hcl.Expression) (hcl.Expression, hcl.Diagnostics) {
	t, ok := e.(*hclsyntax.TemplateExpr)
	if !ok || !t.IsStringLiteral() {
		return e, nil
	}
	v, ds := t.Value(nil)
	if ds.HasErrors() {
		return e, ds
	}
	return &hclsyntax.ScopeTraversalExpr{
			Traversal: hcl.Traversal{hcl.TraverseRoot{Name: v.AsString(), SrcRange: t.Range()}},
			SrcRange:  t.Range(),
		}, hcl.Diagnostics{warning(t.Range().Ptr(), "Quoted keywords are deprecated",
			"Keywords stand without quotes; quotes were needed up to Terraform 0.11. Remove them.")}
}

// unwrapKey returns the expression that stands as the key of an object.
func unwrapKey(e hcl.Expression) hcl.Expression {
	if k, ok := e.(*hclsyntax.ObjectConsKeyExpr); ok {
		return k.Wrapped
	}
	return e
}

// rootWord returns the first name of a reference and what it is followed by.
func rootWord(t hcl.Traversal) (word, next string) {
	word = t.RootName()
	if len(t) > 1 {
		next, _ = stepName(t[1])
	}
	return word, next
}

// isKeyword reports whether a reference that begins with word speaks of something
// other than a managed resource of the type word.
func isKeyword(word string) bool {
	switch word {
	case "var", "local", "module", "path", "terraform", "self", "each", "count", "provider":
		return true
	}
	return false
}

// resourceOf returns the resource that a reference speaks of, false if it speaks of
// something else.
func resourceOf(t hcl.Traversal) (addrs.Resource, bool) {
	x := addrs.Resource{Mode: addrs.Managed}
	switch word := t.RootName(); word {
	case "data":
		x.Mode, t = addrs.Data, t[1:]
	case "ephemeral":
		x.Mode, t = addrs.Ephemeral, t[1:]
	case "resource":
		t = t[1:]
	default:
		if isKeyword(word) {
			return x, false
		}
	}
	if len(t) < 2 {
		return x, false
	}
	var ok1, ok2 bool
	x.Type, ok1 = stepName(t[0])
	x.Name, ok2 = stepName(t[1])
	return x, ok1 && ok2
}

// destroyReferences checks that a provisioner for the destruction mentions only what
// is still there then.
func (r *reader) destroyReferences(body hcl.Body) {
	if body == nil {
		return
	}
	// Neither provisioners nor connections have nested blocks.
	attrs, _ := body.JustAttributes()
	for _, a := range attrs {
		for _, t := range a.Expr.Variables() {
			word, next := rootWord(t)
			switch {
			case word == "self" || word == "path" || word == "terraform":
			case word == "count" && next == "index" || word == "each" && next == "key":
			default:
				r.errorf(t.SourceRange().Ptr(), "Invalid reference from destroy provisioner",
					"A provisioner with when = destroy, and its connection, may refer to self, count.index and each.key only: other objects may be gone by then.")
			}
		}
	}
}

// checkSelf refuses conditions that name their own resource.
func (r *reader) checkSelf(x *Resource, b *hcl.Block, c *Condition) {
	for _, e := range []hcl.Expression{c.Condition, c.ErrorMessage} {
		if e == nil {
			continue
		}
		for _, t := range e.Variables() {
			if res, ok := resourceOf(t); ok && res == x.Addr {
				r.errorf(t.SourceRange().Ptr(), "Invalid reference in "+b.Type,
					"The %s of %s may not refer to the resource by its address; in a postcondition, use self.", b.Type, x.Addr)
			}
		}
	}
}

// checkTrigger checks one entry of replace_triggered_by.
func (r *reader) checkTrigger(e hcl.Expression) bool {
	ok, resources := true, 0
	for _, t := range e.Variables() {
		if _, isResource := resourceOf(t); isResource {
			resources++
			continue
		}
		word, next := rootWord(t)
		switch {
		case !isKeyword(word):
			r.errorf(t.SourceRange().Ptr(), "Invalid reference", "A resource is referred to by its type and its name, joined by a dot.")
			return false
		case word == "each" && next == "key" || word == "count" && next == "index":
		case word == "each":
			r.errorf(t.SourceRange().Ptr(), "Invalid each reference in replace_triggered_by expression", "Keys may be made of each.key; each.value is not known early enough.")
			ok = false
		case word == "count":
			r.errorf(t.SourceRange().Ptr(), "Invalid count reference in replace_triggered_by expression", "count has no attribute but index.")
			ok = false
		default:
			r.errorf(t.SourceRange().Ptr(), "Invalid reference in replace_triggered_by expression",
				"An entry names a resource, or an attribute of one; the keys in it may be made of count.index and each.key.")
			ok = false
		}
	}
	if resources != 1 {
		r.errorf(e.Range().Ptr(), "Invalid replace_triggered_by expression", "Each entry must refer to exactly one resource, this one refers to %d.", resources)
		return false
	}
	return ok
}

// native returns the expression that a JSON string stands for where an expression,
// not a template, is required; other expressions as they are.
func native(e hcl.Expression) (hcl.Expression, hcl.Diagnostics) {
	if !parsing.IsJSON(e) {
		return e, nil
	}
	v, ds := e.Value(nil)
	if ds.HasErrors() {
		// A string with ${} in it, which the parser refuses properly.
		return parsing.Expression([]byte("${"), e.Range().Filename, e.Range().Start)
	}
	if v.IsNull() || v.Type() != cty.String {
		return e, hcl.Diagnostics{problem(e.Range().Ptr(), "Invalid expression", "A string that holds an expression is required.")}
	}
	start := e.Range().Start
	start.Column++
	start.Byte++
	return parsing.Expression([]byte(v.AsString()), e.Range().Filename, start)
}
