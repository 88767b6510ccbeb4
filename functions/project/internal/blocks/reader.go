// Package blocks reads the arguments of a block of lockstep.hcl as Go values, including arguments that several
// types of blocks have in common.
//
// This package does not know types of blocks. Start reading at [Reader].
package blocks

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// These limit the number of a list's items, and the length of an item in bytes.
const (
	maxItems = 100
	MaxText  = 500
	// maxCount is the largest number that an argument may have.
	maxCount = 1_000_000
)

// Pattern returns a function that compiles a regular expression when it is first called. The patterns for ARNs
// take milliseconds to compile, which would delay the start of every program.
func Pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// SlugPattern matches names in lower case, and the slugs of GitHub's teams and Apps.
var SlugPattern = regexp.MustCompile(`^[a-z0-9_][a-z0-9_.-]{0,99}$`)

// A Reader reads the arguments of one block. Each mistake becomes an error with a range.
type Reader struct {
	Diags hcl.Diagnostics
	attrs hcl.Attributes
}

// Errorf adds an error at a range. args are the values for detail, as for fmt.Sprintf.
func (r *Reader) Errorf(at hcl.Range, summary, detail string, args ...any) {
	r.Diags = append(r.Diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...), Subject: &at})
}

// Content decodes the body of the block, so that the other methods can read its arguments.
func (r *Reader) Content(body hcl.Body, s *hcl.BodySchema) *hcl.BodyContent {
	content, ds := body.Content(s)
	for _, d := range ds {
		if strings.HasPrefix(d.Summary, "Unsupported") {
			var names []string
			for _, a := range s.Attributes {
				names = append(names, a.Name)
			}
			d.Detail = strings.TrimSpace(d.Detail + " Its arguments are " + strings.Join(names, ", ") + ".")
		}
	}
	r.attrs, r.Diags = content.Attributes, append(r.Diags, ds...)
	return content
}

// Checked reads an optional text, and adds an error if check returns one. It returns "" if the argument is
// absent.
func (r *Reader) Checked(name string, check func(string) error) string {
	if !r.Has(name) {
		return ""
	}
	text, before := r.Text(name), len(r.Diags)
	if err := check(text); err != nil && len(r.Diags) == before && !r.Diags.HasErrors() {
		r.Errorf(r.At(name), "Invalid value", "%s.", Capital(err.Error()))
	}
	return text
}

// Schema returns the schema of a block with optional arguments and inner blocks.
func Schema(names []string, inner ...hcl.BlockHeaderSchema) *hcl.BodySchema {
	s := &hcl.BodySchema{Blocks: inner}
	for _, n := range names {
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: n})
	}
	return s
}

// Place returns the place of a block, for people: "lockstep.hcl:12".
func Place(b *hcl.Block) string {
	return fmt.Sprintf("%s:%d", path.Base(b.DefRange.Filename), b.DefRange.Start.Line)
}

// Has reports whether the block has an argument.
func (r *Reader) Has(name string) bool { return r.attrs[name] != nil }

// At returns the range of an argument that the block has.
func (r *Reader) At(name string) hcl.Range { return r.attrs[name].Expr.Range() }

// value reads an optional argument of a type; ok is false if it is absent.
func (r *Reader) value(name string, t cty.Type, form string) (v cty.Value, ok bool) {
	a := r.attrs[name]
	if a == nil {
		return v, false
	}
	v, ds := a.Expr.Value(nil)
	if ds.HasErrors() {
		r.Diags = append(r.Diags, ds...)
		return v, false
	}
	if v.IsNull() || v.Type() != t {
		r.Errorf(a.Expr.Range(), "Invalid value", "The argument %q must be %s.", name, form)
		return v, false
	}
	return v, true
}

// Flag reads an optional bool; false if it is absent.
func (r *Reader) Flag(name string) bool {
	v, ok := r.value(name, cty.Bool, "true or false")
	return ok && v.True()
}

// Text reads an optional text; "" if it is absent.
func (r *Reader) Text(name string) string {
	v, ok := r.value(name, cty.String, "a text")
	if !ok {
		return ""
	}
	return v.AsString()
}

// Texts reads an optional object of texts; nil if it is absent.
func (r *Reader) Texts(name string) map[string]string {
	a := r.attrs[name]
	if a == nil {
		return nil
	}
	v, ds := a.Expr.Value(nil)
	if ds.HasErrors() {
		r.Diags = append(r.Diags, ds...)
		return nil
	}
	out := map[string]string{}
	wrong := v.IsNull() || !v.Type().IsObjectType() || v.LengthInt() > maxItems
	for key, x := range elements(v, wrong) {
		if wrong = x.IsNull() || x.Type() != cty.String || len(x.AsString()) > MaxText; wrong {
			break
		}
		out[key] = x.AsString()
	}
	if wrong {
		r.Errorf(a.Expr.Range(), "Invalid value", "The argument %q must be at most %d texts by names, { NAME = \"...\" }, each of at most %d bytes.", name, maxItems, MaxText)
		return nil
	}
	return out
}

// elements returns the values of an object; none if the value is wrong.
func elements(v cty.Value, wrong bool) map[string]cty.Value {
	if wrong {
		return nil
	}
	return v.AsValueMap()
}

// Count reads a whole number within limits; 0 if it is absent.
func (r *Reader) Count(name string, lowest, highest int) int {
	form := fmt.Sprintf("a whole number from %d to %d", lowest, highest)
	v, ok := r.value(name, cty.Number, form)
	if !ok {
		return 0
	}
	f, _ := v.AsBigFloat().Float64()
	n := int(f)
	if float64(n) != f || n < lowest || n > highest {
		r.Errorf(r.At(name), "Invalid value", "The argument %q must be %s.", name, form)
		return 0
	}
	return n
}

// Limit reads a number that is an upper limit; nil if it is absent.
func (r *Reader) Limit(name string) *int {
	if !r.Has(name) {
		return nil
	}
	n := r.Count(name, 0, maxCount)
	return &n
}

// Projects reads the optional argument projects: cleaned patterns of names and directories, in doublestar's
// notation.
func (r *Reader) Projects() []string {
	return Each(r, "projects", ParseProject)
}

// ParseProject reads a pattern of [Reader.Projects].
func ParseProject(s string) (string, error) { return CleanPattern(s), ValidPattern(s) }

// Types reads an optional list of patterns of resource types.
func (r *Reader) Types(name string) []string { return Each(r, name, ParseType) }

// ParseType reads a pattern of [Reader.Types].
func ParseType(s string) (string, error) {
	if err := ValidPattern(s); err != nil {
		return s, err
	}
	if typePattern.MatchString(s) {
		return s, nil
	}
	const rule = "matches no resource type, which has small letters, digits and _ only, and no address"
	kind := strings.ToLower(strings.TrimSpace(s))
	for strings.HasPrefix(kind, "module.") {
		_, kind, _ = strings.Cut(strings.TrimPrefix(kind, "module."), ".")
	}
	kind, _, _ = strings.Cut(kind, ".")
	if kind == "data" || !typePattern.MatchString(kind) {
		return s, fmt.Errorf("%q "+rule+": write a type, as \"aws_db_instance\"", s)
	}
	return s, fmt.Errorf("%q "+rule+": write %q", s, kind)
}

// typePattern matches a pattern of resource types.
var typePattern = regexp.MustCompile(`^[a-z0-9_*?{},\[\]!^-]+$`)

// CleanPattern returns a pattern of paths in the form for comparison: "./live/net/" becomes "live/net".
func CleanPattern(text string) string {
	if text == "" || strings.Contains(text, `\`) {
		return text
	}
	clean := path.Clean(text)
	for strings.Contains(clean, "**/**/") {
		clean = strings.ReplaceAll(clean, "**/**/", "**/") // The shorter pattern means the same, and is much cheaper to match.
	}
	return clean
}

// MatchesPath reports whether a pattern matches a path. A pattern without special characters also matches
// everything below it.
func MatchesPath(pattern, name string) bool {
	return doublestar.MatchUnvalidated(pattern, name) || !strings.ContainsAny(pattern, `*?[{\`) && strings.HasPrefix(name, pattern+"/")
}

// Alternatives returns a pattern once for each alternative in its braces. In each result, that alternative
// replaces its braces. For "{live,stage}/{net,app}" it returns "live/{net,app}", "stage/{net,app}",
// "{live,stage}/net" and "{live,stage}/app". A pattern without braces is returned unchanged. The pattern must
// be valid in doublestar's notation. If a returned pattern matches nothing, its alternative can be removed
// without effect.
func Alternatives(pattern string) (out []string) {
	for from := 0; ; {
		start, ends := braces(pattern[from:])
		if start < 0 {
			break
		}
		before, after := pattern[:from+start], pattern[from+ends[len(ends)-1]+1:]
		at := from + start + 1
		for _, end := range ends {
			for _, inner := range Alternatives(pattern[at : from+end]) {
				out = append(out, before+inner+after)
			}
			at = from + end + 1
		}
		from = len(pattern) - len(after)
	}
	if out == nil {
		return []string{pattern}
	}
	return out
}

// braces finds the first brace of a pattern, and the end of each alternative in it. The last end is the closing
// brace. start is -1 if the pattern has no brace.
func braces(p string) (start int, ends []int) {
	start = -1
	depth := 0
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '[':
			for i++; i < len(p) && p[i] != ']'; i++ {
				if p[i] == '\\' {
					i++
				}
			}
		case '{':
			if depth++; depth == 1 {
				start = i
			}
		case ',':
			if depth == 1 {
				ends = append(ends, i)
			}
		case '}':
			if depth--; depth == 0 {
				return start, append(ends, i)
			}
		}
	}
	return -1, nil
}

// These are the limits of patterns. Matching tries all combinations of the alternatives in braces.
const (
	MaxPattern = 200
	MaxBraces  = 4
)

// noBranch matches patterns that no branch's name can match. Source:
// https://git-scm.com/docs/git-check-ref-format
var noBranch = regexp.MustCompile(`^refs/|^/|/$|//|\.\.|[ ~^:]|\.lock$`)

// NoBranch returns a warning if no branch can have a name that the pattern matches.
func NoBranch(pattern string, at hcl.Range) hcl.Diagnostics {
	if !slices.ContainsFunc(Alternatives(pattern), noBranch.MatchString) {
		return nil
	}
	return hcl.Diagnostics{{Severity: hcl.DiagWarning, Subject: &at, Summary: "Pattern without branches",
		Detail: fmt.Sprintf("No branch can have a name like %q. Write the name without refs/heads/, and without a slash at its beginning or end.", pattern)}}
}

// ValidPattern checks a pattern in doublestar's notation.
func ValidPattern(text string) error {
	switch {
	case text == "" || !utf8.ValidString(text) || !doublestar.ValidatePattern(text):
		return fmt.Errorf("%q is not a pattern: * stands for any name, ** for any names with slashes between, {a,b} for either", text)
	case len(text) > MaxPattern || strings.Count(text, "{") > MaxBraces:
		return fmt.Errorf("a pattern has at most %d bytes, and %d braces: write several patterns instead", MaxPattern, MaxBraces)
	}
	return nil
}

// Each reads an optional list of texts, and parses each text. The result is nil if the list is empty.
func Each[T any](r *Reader, name string, parse func(string) (T, error)) []T {
	a := r.attrs[name]
	if a == nil {
		return nil
	}
	items, ds := hcl.ExprList(a.Expr)
	if ds.HasErrors() {
		r.Errorf(a.Expr.Range(), "Invalid value", "The argument %q must be a list of texts: [\"...\", \"...\"].", name)
		return nil
	}
	if len(items) > maxItems {
		r.Errorf(a.Expr.Range(), "Too many items", "The argument %q has %d items, and at most %d are allowed.", name, len(items), maxItems)
		return nil
	}
	var out []T
	for _, item := range items {
		v, ds := item.Value(nil)
		if ds.HasErrors() {
			r.Diags = append(r.Diags, ds...)
			continue
		}
		if v.IsNull() || v.Type() != cty.String || len(v.AsString()) > MaxText {
			r.Errorf(item.Range(), "Invalid value", "The argument %q must be a list of texts, each of at most %d bytes.", name, MaxText)
			continue
		}
		x, err := parse(v.AsString())
		if err != nil {
			r.Errorf(item.Range(), "Invalid value", "%s.", Capital(err.Error()))
			continue
		}
		out = append(out, x)
	}
	return out
}

// NotEmpty adds an error for each list that is present but has no items. The keys of empty are the names of the
// arguments. A value is true if that list has no items.
func (r *Reader) NotEmpty(empty map[string]bool) {
	for name, none := range empty {
		if none && r.Has(name) && !r.Diags.HasErrors() {
			r.Errorf(r.At(name), "Empty list", "The argument %q is empty. Add a value, or remove the argument.", name)
		}
	}
}

// Capital returns a text with a capital first letter.
func Capital(s string) string {
	c, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(c)) + s[n:]
}

// Named reads blocks with distinct labels. A block with an error is left out. More than limit blocks are an
// error. The parameter why is the reason for the limit, for the text of that error.
func Named[T any](list hcl.Blocks, limit int, why string, read func(*Reader, *hcl.Block) T) (out []T, all hcl.Diagnostics) {
	names := map[string]bool{}
	for i, b := range list {
		r := &Reader{}
		x := read(r, b)
		switch name := b.Labels[0]; {
		case !SlugPattern.MatchString(strings.ToLower(name)):
			r.Errorf(b.LabelRanges[0], "Invalid name of a "+b.Type, "The name consists of letters, digits and the characters _ . - and has at most 100.")
		case i >= limit:
			r.Errorf(b.DefRange, "Too many "+b.Type+" blocks", "There are %d, and at most %d are allowed: %s.", len(list), limit, why)
		case names[name]:
			r.Errorf(b.DefRange, "Name of another "+b.Type, "Another %s block has the name %q. Give one of them another name.", b.Type, name)
		default:
			names[name] = true
		}
		if all = append(all, r.Diags...); !r.Diags.HasErrors() {
			out = append(out, x)
		}
	}
	return out, all
}
