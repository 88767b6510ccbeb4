package formats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/hashicorp/hcl/v2/hcled"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/lockstep-iac/lockstep/engine/diags"
)

// validateFormat is the version of the format of `validate -json`; see
// https://developer.hashicorp.com/terraform/cli/commands/validate, which also
// defines the form of diagnostics.
const validateFormat = "1.0"

// A Diagnostic is a diagnostic in the JSON form of `validate -json` and of the messages of -json.
type Diagnostic struct {
	Severity string   `json:"severity"` // "error" or "warning"
	Summary  string   `json:"summary"`
	Detail   string   `json:"detail"`
	Address  string   `json:"address,omitempty"`
	Range    *Range   `json:"range,omitempty"`
	Snippet  *Snippet `json:"snippet,omitempty"` // nil if the source is not available
}

// A Range is a place in a source file.
type Range struct {
	Filename string `json:"filename"`
	Start    Pos    `json:"start"`
	End      Pos    `json:"end"`
}

// A Pos is a position. Line and column count from 1, bytes from 0.
type Pos struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Byte   int `json:"byte"`
}

// A Snippet is the source lines around a diagnostic's range. The offsets of the highlight are bytes in Code.
type Snippet struct {
	Context        *string           `json:"context"` // header of the enclosing block, like `resource "a" "b"`
	Code           string            `json:"code"`
	StartLine      int               `json:"start_line"`
	HighlightStart int               `json:"highlight_start_offset"`
	HighlightEnd   int               `json:"highlight_end_offset"`
	Values         []ExpressionValue `json:"values"`
	Call           *FunctionCall     `json:"function_call,omitempty"`
}

// An ExpressionValue describes a value that the failing expression refers to. Sensitive values are left out.
type ExpressionValue struct {
	Traversal string `json:"traversal"`
	Statement string `json:"statement"` // like `is "a"`
}

// A FunctionCall is the function that failed.
type FunctionCall struct {
	CalledAs  string             `json:"called_as"`
	Signature *FunctionSignature `json:"signature,omitempty"`
}

// A FunctionSignature describes how to call a function. Source: Terraform 1.11, whose format has descriptions
// but whose output leaves them out.
type FunctionSignature struct {
	Name     string              `json:"name"`
	Params   []FunctionParameter `json:"params"`
	Variadic *FunctionParameter  `json:"variadic_param,omitempty"`
	Return   json.RawMessage     `json:"return_type,omitempty"`
}

// A FunctionParameter is one parameter of a [FunctionSignature].
type FunctionParameter struct {
	Name string          `json:"name"`
	Type json.RawMessage `json:"type,omitempty"`
}

// NewDiagnostic returns d with the source around it, if files has the source.
func NewDiagnostic(d diags.Diagnostic, files map[string]*hcl.File) Diagnostic {
	out := Diagnostic{Severity: d.Severity.String(), Summary: d.Summary, Detail: d.Detail, Address: d.Address}
	if d.Subject == nil {
		return out
	}
	highlight, around := *d.Subject, *d.Subject
	if d.Context != nil && d.Context.Filename == highlight.Filename {
		around = hcl.RangeOver(*d.Context, highlight)
	}
	for _, r := range []*hcl.Range{&highlight, &around} {
		if r.Empty() { // show an empty range as one character
			r.End.Byte++
			r.End.Column++
		}
	}
	out.Range = &Range{
		Filename: highlight.Filename,
		Start:    Pos{highlight.Start.Line, highlight.Start.Column, highlight.Start.Byte},
		End:      Pos{highlight.End.Line, highlight.End.Column, highlight.End.Byte},
	}
	if f := files[highlight.Filename]; f != nil && len(f.Bytes) > 0 {
		out.Snippet = newSnippet(d, f, highlight, around)
	}
	return out
}

// newDiagnostics converts a list of diagnostics to their JSON form. The result is never nil.
func newDiagnostics(ds diags.Diagnostics, files map[string]*hcl.File) []Diagnostic {
	out := make([]Diagnostic, len(ds))
	for i, d := range ds {
		out[i] = NewDiagnostic(d, files)
	}
	return out
}

func newSnippet(d diags.Diagnostic, f *hcl.File, highlight, around hcl.Range) *Snippet {
	s := &Snippet{StartLine: around.Start.Line, Values: []ExpressionValue{}}
	if c := contextOf(f, highlight.Start.Byte); c != "" {
		s.Context = &c
	}
	lines, first := linesAround(f.Bytes, around)
	s.Code = strings.Join(lines, "\n")
	bound := func(n int) int { return max(0, min(n, len(s.Code))) }
	s.HighlightStart = bound(highlight.Start.Byte - first)
	s.HighlightEnd = max(s.HighlightStart, bound(highlight.End.Byte-first))
	s.addValues(d)
	s.addCall(d)
	return s
}

// linesAround returns the lines that a range contains or touches: a range that begins or ends with a line
// feed touches the lines on both sides. It also returns the offset where these lines begin; -1 if there are
// none. It reads only these lines, because every line of a file may have a mistake.
func linesAround(src []byte, rng hcl.Range) ([]string, int) {
	first := -1
	var lines []string
	from := bytes.LastIndexByte(src[:min(rng.Start.Byte, len(src))], '\n') + 1
	for from < len(src) && from <= rng.End.Byte {
		line, _, _ := bytes.Cut(src[from:], []byte("\n"))
		text := bytes.TrimSuffix(line, []byte("\r"))
		if len(text) > 0 && from+len(text) >= rng.Start.Byte {
			if first < 0 {
				first = from
			}
			lines = append(lines, string(bytes.ToValidUTF8(text, []byte("\ufffd"))))
		}
		from += len(line) + 1
	}
	return lines, first
}

// contextOf returns the header of the block around an offset; "" if there is no block, or if the offset is in
// the header itself.
func contextOf(f *hcl.File, offset int) string {
	if f.Nav == nil {
		return ""
	}
	return hcled.ContextString(f, offset-1)
}

// addValues adds the values of the references in the expression that failed.
func (s *Snippet) addValues(d diags.Diagnostic) {
	if d.Expression == nil || d.EvalContext == nil {
		return
	}
	why := causeOf(d)
	seen := map[string]bool{}
	for _, t := range d.Expression.Variables() {
		for ; len(t) > 1; t = t[:len(t)-1] {
			v, ds := t.TraverseAbs(d.EvalContext)
			if ds.HasErrors() {
				continue // the reference itself has failed: use the object instead
			}
			name := traversalText(t)
			if statement := why.statement(v); statement != "" && !seen[name] {
				seen[name] = true
				s.Values = append(s.Values, ExpressionValue{name, statement})
			}
			break
		}
	}
	slices.SortFunc(s.Values, func(a, b ExpressionValue) int { return strings.Compare(a.Traversal, b.Traversal) })
}

// addCall adds the function that failed.
func (s *Snippet) addCall(d diags.Diagnostic) {
	call, ok := d.Extra.(hclsyntax.FunctionCallDiagExtra)
	if !ok || call.CalledFunctionName() == "" {
		return
	}
	s.Call = &FunctionCall{CalledAs: call.CalledFunctionName()}
	for ctx := d.EvalContext; ctx != nil; ctx = ctx.Parent() {
		if f, ok := ctx.Functions[s.Call.CalledAs]; ok {
			s.Call.Signature = signature(s.Call.CalledAs, f)
			return
		}
	}
}

func signature(name string, f function.Function) *FunctionSignature {
	if i := strings.LastIndex(name, "::"); i >= 0 {
		name = name[i+2:]
	}
	out := &FunctionSignature{Name: name, Params: []FunctionParameter{}}
	for _, p := range f.Params() {
		out.Params = append(out.Params, newFunctionParameter(p))
	}
	if p := f.VarParam(); p != nil {
		v := newFunctionParameter(*p)
		out.Variadic = &v
	}
	if ty, err := returnType(f); err == nil {
		out.Return = ty
	}
	return out
}

func newFunctionParameter(p function.Parameter) FunctionParameter {
	ty := p.Type
	if ty == customdecode.ExpressionClosureType || ty == customdecode.ExpressionType {
		ty = cty.DynamicPseudoType // for the parameters of try and can
	}
	text, err := typeJSON(ty)
	if err != nil {
		text = nil
	}
	return FunctionParameter{Name: p.Name, Type: text}
}

type validateJSON struct {
	FormatVersion string       `json:"format_version"`
	Valid         bool         `json:"valid"`
	Errors        int          `json:"error_count"`
	Warnings      int          `json:"warning_count"`
	Diagnostics   []Diagnostic `json:"diagnostics"`
}

// Validate returns the output of `validate -json` for the diagnostics ds.
func Validate(ds diags.Diagnostics, files map[string]*hcl.File) ([]byte, error) {
	out := validateJSON{FormatVersion: validateFormat, Valid: !ds.HasErrors(), Diagnostics: newDiagnostics(ds, files)}
	for _, d := range ds {
		if d.Severity == diags.Error {
			out.Errors++
		} else {
			out.Warnings++
		}
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("diagnostics as JSON: %w", err)
	}
	return text, nil
}
