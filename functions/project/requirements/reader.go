package requirements

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// A reader reads the arguments of one block. Each mistake is an error with a range.
type reader struct {
	attrs hcl.Attributes
	diags hcl.Diagnostics
}

func (r *reader) errorf(at hcl.Range, summary, detail string, args ...any) {
	r.diags = append(r.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...), Subject: &at})
}

// content decodes a body, whose arguments the other methods read.
func (r *reader) content(body hcl.Body, s *hcl.BodySchema) *hcl.BodyContent {
	content, ds := body.Content(s)
	for _, d := range ds {
		if strings.HasPrefix(d.Summary, "Unsupported") {
			var names []string
			for _, a := range s.Attributes {
				names = append(names, a.Name)
			}
			d.Detail = strings.TrimSpace(d.Detail + " A condition is one of " + strings.Join(names, ", ") + ".")
		}
	}
	r.attrs, r.diags = content.Attributes, append(r.diags, ds...)
	return content
}

func (r *reader) has(name string) bool { return r.attrs[name] != nil }

func (r *reader) at(name string) hcl.Range { return r.attrs[name].Expr.Range() }

// value reads an optional argument of a type; ok is false where there is none.
func (r *reader) value(name string, t cty.Type, form string) (v cty.Value, ok bool) {
	a := r.attrs[name]
	if a == nil {
		return v, false
	}
	v, ds := a.Expr.Value(nil)
	if ds.HasErrors() {
		r.diags = append(r.diags, ds...)
		return v, false
	}
	if v.IsNull() || v.Type() != t {
		r.errorf(a.Expr.Range(), "Invalid value", "The argument %q must be %s.", name, form)
		return v, false
	}
	return v, true
}

func (r *reader) flag(name string) bool {
	v, ok := r.value(name, cty.Bool, "true or false")
	return ok && v.True()
}

func (r *reader) text(name string) string {
	v, ok := r.value(name, cty.String, "a text")
	if !ok {
		return ""
	}
	return v.AsString()
}

// count reads a whole number within limits; 0 where there is none.
func (r *reader) count(name string, least, most int) int {
	form := fmt.Sprintf("a whole number from %d to %d", least, most)
	v, ok := r.value(name, cty.Number, form)
	if !ok {
		return 0
	}
	f, _ := v.AsBigFloat().Float64()
	n := int(f)
	if float64(n) != f || n < least || n > most {
		r.errorf(r.at(name), "Invalid value", "The argument %q must be %s.", name, form)
		return 0
	}
	return n
}

// limit reads an upper limit, nil where there is none.
func (r *reader) limit(name string) *int {
	if !r.has(name) {
		return nil
	}
	n := r.count(name, 0, maxCount)
	return &n
}

func (r *reader) parties(name string) []Party { return each(r, name, ParseParty) }

func (r *reader) patterns(name string) []string {
	return each(r, name, func(s string) (string, error) { return s, validPattern(s) })
}

// each reads an optional list of texts, each as a value. It is nil if it is empty.
func each[T any](r *reader, name string, parse func(string) (T, error)) []T {
	a := r.attrs[name]
	if a == nil {
		return nil
	}
	items, ds := hcl.ExprList(a.Expr)
	if ds.HasErrors() {
		r.errorf(a.Expr.Range(), "Invalid value", "The argument %q must be a list of texts: [\"...\", \"...\"].", name)
		return nil
	}
	if len(items) > maxItems {
		r.errorf(a.Expr.Range(), "Too many items", "The argument %q has %d items, and at most %d are allowed.", name, len(items), maxItems)
		return nil
	}
	var out []T
	for _, item := range items {
		v, ds := item.Value(nil)
		if ds.HasErrors() {
			r.diags = append(r.diags, ds...)
			continue
		}
		if v.IsNull() || v.Type() != cty.String || len(v.AsString()) > maxText {
			r.errorf(item.Range(), "Invalid value", "The argument %q must be a list of texts, each of at most %d bytes.", name, maxText)
			continue
		}
		x, err := parse(v.AsString())
		if err != nil {
			r.errorf(item.Range(), "Invalid value", "%s.", capital(err.Error()))
			continue
		}
		out = append(out, x)
	}
	return out
}

// notEmpty refuses the lists that are there and have no items, by their names.
func (r *reader) notEmpty(empty map[string]bool) {
	for name, none := range empty {
		if none && r.has(name) && !r.diags.HasErrors() {
			r.errorf(r.at(name), "Empty list", "The argument %q is empty: name something, or leave the argument out.", name)
		}
	}
}

func capital(s string) string {
	c, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(c)) + s[n:]
}
