package project

import (
	"io/fs"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/zclconf/go-cty/cty"
)

// quoted is a text in the file, with its place.
type quoted struct {
	text string
	at   hcl.Range
}

// decode reads an attribute that may be absent. what says what it has to be.
func (p *parser) decode(a *hcl.Attribute, into any, what string) {
	if a == nil {
		return
	}
	v, ds := a.Expr.Value(nil)
	if ds.HasErrors() {
		p.diags = append(p.diags, ds...)
		return
	}
	if v.IsNull() {
		p.errorf(a.Expr.Range(), "Invalid value", "The argument %q must be %s, not null.", a.Name, what)
		return
	}
	if ds := gohcl.DecodeExpression(a.Expr, nil, into); ds.HasErrors() {
		p.errorf(a.Expr.Range(), "Invalid value", "The argument %q must be %s.", a.Name, what)
	}
}

// list reads an attribute that is a list of texts, written one by one.
func (p *parser) list(a *hcl.Attribute) []quoted {
	if a == nil {
		return nil
	}
	items, ds := hcl.ExprList(a.Expr)
	if ds.HasErrors() {
		p.errorf(a.Expr.Range(), "Invalid value", "The argument %q must be a list of texts: [\"...\", \"...\"].", a.Name)
		return nil
	}
	var out []quoted
	for _, item := range items {
		v, ds := item.Value(nil)
		if ds.HasErrors() {
			p.diags = append(p.diags, ds...)
			continue
		}
		if v.IsNull() || v.Type() != cty.String {
			p.errorf(item.Range(), "Invalid value", "The argument %q must be a list of texts.", a.Name)
			continue
		}
		out = append(out, quoted{v.AsString(), item.Range()})
	}
	return out
}

// path reads a path of something in the repository, and returns it clean.
func (p *parser) path(s quoted, what string) string {
	clean := path.Clean(s.text)
	switch {
	case s.text == "":
		p.errorf(s.at, "Invalid path", "The path of a %s must not be empty; the repository's own directory is \".\".", what)
	case !fs.ValidPath(clean) || strings.Contains(s.text, "\\") || strings.ContainsFunc(s.text, unicode.IsControl):
		p.errorf(s.at, "Invalid path", "The %s %q is not in the repository: give its path from the repository's directory, with slashes, and without .. at its beginning.", what, s.text)
	}
	return clean
}

// pattern reads a pattern of files in the repository.
func (p *parser) pattern(s quoted) string {
	text := strings.TrimPrefix(s.text, "./")
	switch {
	case text == "" || !utf8.ValidString(text) || !doublestar.ValidatePattern(text):
		p.errorf(s.at, "Invalid pattern", "%q is no pattern of files: * stands for any name, ** for any directories, {a,b} for either.", s.text)
	case strings.HasPrefix(text, "/") || strings.Contains("/"+text+"/", "/../"):
		p.errorf(s.at, "Invalid pattern", "%q looks for files outside of the repository: patterns begin at the repository's directory, and have no .. in them.", s.text)
	}
	return text
}

func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}
