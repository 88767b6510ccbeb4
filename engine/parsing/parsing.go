// Package parsing calls HCL's parsers for all of Lockstep. It refuses texts that would exhaust the parsers.
// They are recursive, and need up to 13 KB of stack for each level (measured). A stack overflow ends the
// process, and nothing can recover from it. So a scan that is not recursive refuses a text that is nested
// deeper than [MaxDepth]; see nativeDepth for how it counts.
//
// The package does not know the meaning of a text. Start at [Config].
package parsing

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"
)

// MaxDepth is the largest number of nested levels. A level is a block, a bracket, a quoted template, a
// template directive, a conditional, a unary operator or an index. Ten binary operators in a row also count
// as a level.
const MaxDepth = 1000

// Config parses a file in native syntax, as [hclsyntax.ParseConfig] does. The result is never nil and always
// has a body.
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

// unguarded parses a file, as [Config] does. But the result does not count what it makes against a budget: see
// [guard].
func unguarded(src []byte, name string) (*hcl.File, hcl.Diagnostics) {
	if f := inPieces(src, name); f != nil {
		return f, nil
	}
	if d := depthOf(src, name, hcl.InitialPos, fileText, MaxDepth); d != nil {
		return refused(src), hcl.Diagnostics{d}
	}
	return whole(hclsyntax.ParseConfig(src, name, hcl.InitialPos))(src)
}

// Syntax parses a file for code that reads the tree and does not evaluate it. Unlike the result of [Config],
// the tree does not limit the size of values. It is nil if the text is refused.
func Syntax(src []byte, name string) *hclsyntax.Body {
	if longNumber(src, name) != nil {
		return nil
	}
	f, _ := unguarded(src, name)
	b, _ := f.Body.(*hclsyntax.Body)
	return b
}

// JSON parses a file in JSON syntax, as [json.Parse] does. The result is never nil and always has a body. The
// templates in its strings are safe to evaluate. A string that will be read as an expression is not checked
// here: use [Expression] or [Quoted].
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
	f.Body = jsonBody{Body: f.Body}
	return f, ds
}

// Expression parses an expression in native syntax, as [hclsyntax.ParseExpression] does. start is the
// position of src in its file.
func Expression(src []byte, name string, start hcl.Pos) (hclsyntax.Expression, hcl.Diagnostics) {
	x, ds := Tree(src, name, start)
	return guard(x), ds
}

// Tree parses an expression for code that reads the tree and does not evaluate it. Unlike the result of
// [Expression], the tree does not limit the size of values.
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

// templateAt parses a template, as [Template] does, that begins in the middle of a file. start is its position
// in the file.
func templateAt(src []byte, name string, start hcl.Pos) (hclsyntax.Expression, hcl.Diagnostics) {
	x, ds := templateTree(src, name, start)
	return guard(x), ds
}

// TemplateTree parses a template for code that reads the tree and does not evaluate it. Unlike the result of
// [Template], the tree does not limit the size of values.
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

// Quoted checks an expression of a JSON file whose string HCL will read as an expression of native syntax. It
// returns an error if the string is nested too deep. For all other expressions it returns nil.
func Quoted(e hcl.Expression) *hcl.Diagnostic {
	if !IsJSON(e) {
		return nil
	}
	v, ds := e.Value(nil)
	if ds.HasErrors() || v.IsNull() || v.Type() != cty.String {
		return nil // the caller that reads it reports the error
	}
	d := depthOf([]byte(v.AsString()), e.Range().Filename, e.Range().Start, expressionText, MaxDepth)
	if d != nil {
		d.Subject = e.Range().Ptr()
	}
	return d
}

// refused returns a file without content in place of a file that was not parsed. It has the bytes, so that
// diagnostics can show them.
func refused(src []byte) *hcl.File { return &hcl.File{Bytes: src, Body: hcl.EmptyBody()} }

// whole returns a function that returns the file f and the diagnostics ds. If f is nil or has no body, the
// function returns an empty file with the bytes src instead of f.
func whole(f *hcl.File, ds hcl.Diagnostics) func(src []byte) (*hcl.File, hcl.Diagnostics) {
	return func(src []byte) (*hcl.File, hcl.Diagnostics) {
		if f == nil || f.Body == nil {
			return refused(src), ds
		}
		return f, ds
	}
}
