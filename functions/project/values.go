package project

import (
	"io/fs"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project/internal/blocks"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// A quoted is a text of the file with its range.
type quoted struct {
	text string
	at   hcl.Range
}

// decode decodes an optional attribute. The parameter what is the description of a valid value, for errors.
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

// list reads an attribute that is a list of literal texts.
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

// path reads a path in the repository, and returns it clean. The parameter what is the noun for errors.
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

// maxPatterns is the maximum number of patterns in a list of the settings.
const maxPatterns = 100

// patterns parses a list of patterns; the result is not nil.
func (p *parser) patterns(a *hcl.Attribute) []string {
	out := []string{}
	for _, s := range p.list(a) {
		out = append(out, p.pattern(s))
	}
	if len(out) > maxPatterns {
		p.errorf(a.Expr.Range(), "Too many patterns", "There are %d patterns, and at most %d are allowed: ** stands for any directories.", len(out), maxPatterns)
	}
	return out
}

// types parses patterns of resource types.
func (p *parser) types(a *hcl.Attribute) (out []string) {
	for _, s := range p.list(a) {
		pattern, err := blocks.ParseType(s.text)
		switch {
		case err != nil:
			p.errorf(s.at, "Invalid value", "%s.", capital(err.Error()))
		case len(out) == maxPatterns:
			p.errorf(s.at, "Too many patterns", "The list has more than %d patterns, which is the limit. Write * for any letters.", maxPatterns)
			return out
		default:
			out = append(out, pattern)
			p.settings.guards = append(p.settings.guards, guard{block: a.Name, pattern: pattern, at: s.at, types: true})
		}
	}
	return out
}

// tools reads the tools of steps: checksums by name.
func (p *parser) tools(a *hcl.Attribute) map[string]string {
	names := map[string]string{}
	p.decode(a, &names, "texts by names: { tflint = \"sha256:...\" }")
	out, ds := requirements.Tools(a, names)
	p.diags = append(p.diags, ds...)
	return out
}

// pattern parses a pattern of files in the repository. A leading ! excludes files.
func (p *parser) pattern(s quoted) string {
	text, taken := strings.CutPrefix(s.text, "!")
	switch err := blocks.ValidPattern(strings.ReplaceAll(text, ownDir, "dir")); {
	case err != nil:
		p.errorf(s.at, "Invalid pattern", "%s.", patternsOf("files", err))
	case strings.HasPrefix(text, "/") || strings.Contains("/"+text+"/", "/../"):
		p.errorf(s.at, "Invalid pattern", "%q matches files outside of the repository: patterns begin at the repository's directory, and do not contain \"..\".", s.text)
	}
	text = blocks.CleanPattern(text)
	if taken {
		return "!" + text
	}
	return text
}

// patternsOf returns the text of an error about a pattern. The parameter what is the noun for the things that
// the pattern matches.
func patternsOf(what string, err error) string {
	return capital(strings.Replace(err.Error(), "is not a pattern:", "is not a pattern of "+what+":", 1))
}

// branches reads an optional list of patterns of branches.
func (p *parser) branches(a *hcl.Attribute) []string {
	var out []string
	for _, s := range p.list(a) {
		if err := blocks.ValidPattern(s.text); err != nil {
			p.errorf(s.at, "Invalid pattern", "%s.", patternsOf("branches", err))
			continue
		}
		p.diags = append(p.diags, blocks.NoBranch(s.text, s.at)...)
		out = append(out, s.text)
	}
	if len(out) > maxPatterns {
		p.errorf(a.Expr.Range(), "Too many patterns", "There are %d patterns, and at most %d are allowed: ** stands for any branch.", len(out), maxPatterns)
		return nil
	}
	return out
}

// modules reads an optional list of patterns of modules.
func (p *parser) modules(a *hcl.Attribute) []ModulePattern {
	var out []ModulePattern
	for _, s := range p.list(a) {
		pattern, err := parseModulePattern(s.text)
		if err != nil {
			p.errorf(s.at, "Invalid place of modules", "%s.", capital(err.Error()))
			continue
		}
		out = append(out, pattern)
	}
	if len(out) > maxPatterns {
		p.errorf(a.Expr.Range(), "Too many patterns", "There are %d places of modules, and at most %d are allowed: github.com/OWNER/* stands for any repository.", len(out), maxPatterns)
		return nil
	}
	return out
}

// states reads an optional list of patterns of states.
func (p *parser) states(a *hcl.Attribute) []places.Pattern {
	var out []places.Pattern
	if a != nil {
		p.settings.statesAt = a.Expr.Range()
	}
	for _, s := range p.list(a) {
		pattern, err := places.ParsePattern(s.text)
		if err != nil {
			p.errorf(s.at, "Invalid pattern of states", "%s.", capital(err.Error()))
			continue
		}
		out = append(out, pattern)
	}
	if len(out) > maxPatterns {
		p.errorf(a.Expr.Range(), "Too many patterns", "There are %d patterns of states, and at most %d are allowed: ** stands for any key.", len(out), maxPatterns)
		return nil
	}
	return out
}

func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}
