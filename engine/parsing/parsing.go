// Package parsing calls HCL's parsers, for all of Lockstep, with texts that they can
// take. They are recursive, at up to 13 KB of stack a level (measured), and a stack
// that overflows ends the process, which nothing recovers from. So a text that is nested
// deeper than [MaxDepth] is refused by a scan that does not recurse; see nativeDepth
// for how it counts.
//
// It refuses to know the meaning of a text. Start at [Config].
package parsing

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"
)

// MaxDepth is how many levels may be nested in each other. A level is a block, a
// bracket, a quoted template, a template directive, a conditional, a unary operator
// or an index; so are ten binary operators in a row.
const MaxDepth = 1000

// Config parses a file in native syntax, as [hclsyntax.ParseConfig] does. The file is
// never nil and has a body.
func Config(src []byte, name string) (*hcl.File, hcl.Diagnostics) {
	if d := pointed(src, name); d != nil {
		return refused(src), hcl.Diagnostics{d}
	}
	if d := longNumber(src, name); d != nil {
		return refused(src), hcl.Diagnostics{d}
	}
	f, ds := unguarded(src, name)
	if b, ok := f.Body.(*hclsyntax.Body); ok {
		guardBody(b)
	}
	return f, ds
}

// unguarded is Config with HCL's own expressions.
func unguarded(src []byte, name string) (*hcl.File, hcl.Diagnostics) {
	if f := inPieces(src, name); f != nil {
		return f, nil
	}
	if d := depthOf(src, name, hcl.InitialPos, fileText, MaxDepth); d != nil {
		return refused(src), hcl.Diagnostics{d}
	}
	return whole(hclsyntax.ParseConfig(src, name, hcl.InitialPos))(src)
}

// Syntax is Config for who looks at the tree, and does not evaluate it: nothing in it stops what grows. It is nil for a text that
// is refused.
func Syntax(src []byte, name string) *hclsyntax.Body {
	if longNumber(src, name) != nil {
		return nil
	}
	f, _ := unguarded(src, name)
	b, _ := f.Body.(*hclsyntax.Body)
	return b
}

// JSON parses a file in JSON syntax, as [json.Parse] does. The file is never nil and
// has a body. The templates that its strings are can be evaluated; a string that is
// read as an expression is checked by [Expression] or [Quoted] alone.
func JSON(src []byte, name string) (*hcl.File, hcl.Diagnostics) {
	if d := pointed(src, name); d != nil {
		return refused(src), hcl.Diagnostics{d}
	}
	if d := depthJSON(src, name, MaxDepth); d != nil {
		return refused(src), hcl.Diagnostics{d}
	}
	if d := longNumber(src, name); d != nil {
		return refused(src), hcl.Diagnostics{d}
	}
	f, ds := whole(json.Parse(src, name))(src)
	f.Body = jsonBody{f.Body}
	return f, ds
}

// Expression parses an expression in native syntax, which begins at start, as
// [hclsyntax.ParseExpression] does.
func Expression(src []byte, name string, start hcl.Pos) (hclsyntax.Expression, hcl.Diagnostics) {
	x, ds := Tree(src, name, start)
	return guard(x), ds
}

// Tree is Expression for who looks at the tree, and does not evaluate it: nothing in it stops what grows.
func Tree(src []byte, name string, start hcl.Pos) (hclsyntax.Expression, hcl.Diagnostics) {
	if d := depthOf(src, name, start, expressionText, MaxDepth); d != nil {
		return &hclsyntax.LiteralValueExpr{Val: cty.DynamicVal, SrcRange: *d.Subject}, hcl.Diagnostics{d}
	}
	if d := longNumber(src, name); d != nil {
		return &hclsyntax.LiteralValueExpr{Val: cty.DynamicVal, SrcRange: *d.Subject}, hcl.Diagnostics{d}
	}
	return hclsyntax.ParseExpression(src, name, start)
}

// Template parses a template, as [hclsyntax.ParseTemplate] does.
func Template(src []byte, name string) (hclsyntax.Expression, hcl.Diagnostics) {
	return templateAt(src, name, hcl.InitialPos)
}

// templateAt is Template for a text that begins at start.
func templateAt(src []byte, name string, start hcl.Pos) (hclsyntax.Expression, hcl.Diagnostics) {
	x, ds := templateTree(src, name, start)
	return guard(x), ds
}

// TemplateTree is Template for who looks at the tree, and does not evaluate it.
func TemplateTree(src []byte, name string) (hclsyntax.Expression, hcl.Diagnostics) {
	return templateTree(src, name, hcl.InitialPos)
}

func templateTree(src []byte, name string, start hcl.Pos) (hclsyntax.Expression, hcl.Diagnostics) {
	if d := depthOf(src, name, start, templateText, MaxDepth); d != nil {
		return &hclsyntax.LiteralValueExpr{Val: cty.DynamicVal, SrcRange: *d.Subject}, hcl.Diagnostics{d}
	}
	if d := longNumber(src, name); d != nil {
		return &hclsyntax.LiteralValueExpr{Val: cty.DynamicVal, SrcRange: *d.Subject}, hcl.Diagnostics{d}
	}
	return hclsyntax.ParseTemplate(src, name, start)
}

// Quoted checks an expression of a JSON file whose string HCL will read as an
// expression of the native syntax; others are well. It returns an error, or nil.
func Quoted(e hcl.Expression) *hcl.Diagnostic {
	if !IsJSON(e) {
		return nil
	}
	v, ds := e.Value(nil)
	if ds.HasErrors() || v.IsNull() || v.Type() != cty.String {
		return nil // refused by whoever reads it
	}
	d := depthOf([]byte(v.AsString()), e.Range().Filename, e.Range().Start, expressionText, MaxDepth)
	if d != nil {
		d.Subject = e.Range().Ptr()
	}
	return d
}

// refused stands for a file that was not parsed, so that its text can be shown.
func refused(src []byte) *hcl.File { return &hcl.File{Bytes: src, Body: hcl.EmptyBody()} }

// whole makes a file that the parser left out or without a body an empty one.
func whole(f *hcl.File, ds hcl.Diagnostics) func(src []byte) (*hcl.File, hcl.Diagnostics) {
	return func(src []byte) (*hcl.File, hcl.Diagnostics) {
		if f == nil || f.Body == nil {
			return refused(src), ds
		}
		return f, ds
	}
}
