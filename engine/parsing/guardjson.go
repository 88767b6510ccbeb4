package parsing

import (
	"fmt"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// A jsonBody is a body of a JSON file. HCL parses the templates in its strings at each evaluation, so nothing
// in them can be replaced. jsonBody parses them once.
type jsonBody struct {
	hcl.Body
	both bool // see UseBothOperands
}

// Content implements hcl.Body. It wraps the expressions and bodies that it returns.
func (b jsonBody) Content(s *hcl.BodySchema) (*hcl.BodyContent, hcl.Diagnostics) {
	c, ds := b.Body.Content(s)
	return b.content(c), ds
}

// PartialContent implements hcl.Body. It wraps the expressions and bodies that it returns.
func (b jsonBody) PartialContent(s *hcl.BodySchema) (*hcl.BodyContent, hcl.Body, hcl.Diagnostics) {
	c, rest, ds := b.Body.PartialContent(s)
	if rest != nil {
		rest = jsonBody{rest, b.both}
	}
	return b.content(c), rest, ds
}

// JustAttributes implements hcl.Body. It wraps the expressions that it returns.
func (b jsonBody) JustAttributes() (hcl.Attributes, hcl.Diagnostics) {
	attrs, ds := b.Body.JustAttributes()
	return b.attributes(attrs), ds
}

func (b jsonBody) content(c *hcl.BodyContent) *hcl.BodyContent {
	if c == nil {
		return nil
	}
	c.Attributes = b.attributes(c.Attributes)
	for _, inner := range c.Blocks {
		inner.Body = jsonBody{inner.Body, b.both}
	}
	return c
}

func (b jsonBody) attributes(attrs hcl.Attributes) hcl.Attributes {
	for _, a := range attrs {
		a.Expr = &jsonExpr{Expression: a.Expr, both: b.both}
	}
	return attrs
}

// A jsonExpr is an expression of a JSON file, with its templates parsed and guarded.
type jsonExpr struct {
	hcl.Expression
	both bool // see UseBothOperands
	once sync.Once
	// look sets exactly one of these fields.
	text   hclsyntax.Expression // of a string
	list   []*jsonExpr
	object []jsonItem
	plain  bool // none of them: HCL's own will do
	failed hcl.Diagnostics
}

type jsonItem struct{ key, value *jsonExpr }

// UnwrapExpression returns the original expression. HCL's static analyses call it.
func (e *jsonExpr) UnwrapExpression() hcl.Expression { return e.Expression }

// IsJSON reports whether an expression is from a JSON file.
func IsJSON(e hcl.Expression) bool { return json.IsJSONExpression(hcl.UnwrapExpression(e)) }

// Value implements hcl.Expression. Without a context, strings are literal texts.
func (e *jsonExpr) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if ctx == nil {
		return e.Expression.Value(nil)
	}
	e.once.Do(e.look)
	switch {
	case e.failed != nil:
		return cty.DynamicVal, e.failed
	case e.text != nil:
		return e.text.Value(ctx)
	case e.list != nil:
		var ds hcl.Diagnostics
		vals := make([]cty.Value, len(e.list))
		for i, x := range e.list {
			v, more := x.Value(ctx)
			vals[i], ds = v, append(ds, more...)
		}
		return cty.TupleVal(vals), ds
	case e.object != nil:
		return e.objectValue(ctx)
	}
	return e.Expression.Value(ctx)
}

// look determines whether the expression is a list, an object, a template or a plain value. It parses a
// template. Call it only once.
func (e *jsonExpr) look() {
	if list, ds := hcl.ExprList(e.Expression); !ds.HasErrors() {
		e.list = make([]*jsonExpr, len(list))
		for i, x := range list {
			e.list[i] = &jsonExpr{Expression: x, both: e.both}
		}
		return
	}
	if pairs, ds := hcl.ExprMap(e.Expression); !ds.HasErrors() {
		e.object = make([]jsonItem, len(pairs))
		for i, p := range pairs {
			e.object[i] = jsonItem{&jsonExpr{Expression: p.Key, both: e.both}, &jsonExpr{Expression: p.Value, both: e.both}}
		}
		return
	}
	v, ds := e.Expression.Value(nil)
	if ds.HasErrors() || v.IsNull() || !v.IsKnown() || v.Type() != cty.String {
		e.plain = true
		return
	}
	at := e.Range()
	at.Start.Column++ // behind the quote
	at.Start.Byte++
	text, ds := templateAt([]byte(v.AsString()), at.Filename, at.Start)
	if ds.HasErrors() {
		e.failed = ds
		return
	}
	if e.both {
		useBothOperands(text)
	}
	e.text = text
}

// objectValue evaluates the items and their keys, as HCL does.
// Source: hcl 2.23, json/structure.go.
func (e *jsonExpr) objectValue(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	var ds hcl.Diagnostics
	attrs := make(map[string]cty.Value, len(e.object))
	places := make(map[string]hcl.Range, len(e.object))
	known := true
	for _, item := range e.object {
		bad := func(x hcl.Expression, summary, format string, args ...any) {
			ds = append(ds, &hcl.Diagnostic{
				Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(format, args...),
				Subject: item.key.Range().Ptr(), Expression: x, EvalContext: ctx,
			})
		}
		name, keyErrors := item.key.Value(ctx)
		v, valueErrors := item.value.Value(ctx)
		ds = append(append(ds, keyErrors...), valueErrors...)
		name, err := convert.Convert(name, cty.String)
		switch {
		case err != nil:
			bad(item.value, "Invalid object key expression", "Cannot use this expression as an object key: %s.", err)
			continue
		case name.IsNull():
			bad(item.value, "Invalid object key expression", "Cannot use null value as an object key.")
			continue
		case !name.IsKnown():
			known = false
			continue
		}
		n := name.AsString()
		if place, twice := places[n]; twice {
			bad(e, "Duplicate object attribute", "An attribute named %q was already defined at %s.", n, place)
			continue
		}
		attrs[n], places[n] = v, item.key.Range()
	}
	if !known {
		return cty.DynamicVal, ds
	}
	return cty.ObjectVal(attrs), ds
}
