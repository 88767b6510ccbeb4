package render

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
)

const diagnosticSource = `variable "names" {}

resource "lab_thing" "a" {
  name  = substr(var.text, var.names, 1)
  size  = var.object.missing + each.value
  tags  = {
    a = var.secret.key + var.unknown + var.any
    b = parseint(var.text, 10) + var.eph + 1
  }
  color = upper(local.list[9])
}

output "o" {
  value = local.null.x
}
`

// diagnosticContext has values of all sorts.
func diagnosticContext() *hcl.EvalContext {
	fail := function.New(&function.Spec{
		Description: "Fails.",
		Params:      []function.Parameter{{Name: "number", Type: cty.String, Description: "A number."}},
		VarParam:    &function.Parameter{Name: "bases", Type: cty.Number},
		Type:        function.StaticReturnType(cty.Number),
		Impl: func([]cty.Value, cty.Type) (cty.Value, error) {
			return cty.NilVal, errors.New("not today")
		},
	})
	ctx := &hcl.EvalContext{
		Functions: map[string]function.Function{"substr": stdlib.SubstrFunc, "upper": stdlib.UpperFunc, "parseint": fail},
		Variables: map[string]cty.Value{
			"var": cty.ObjectVal(map[string]cty.Value{
				"text":    cty.StringVal("hello"),
				"names":   cty.ListVal([]cty.Value{cty.StringVal("x"), cty.StringVal("y")}),
				"object":  cty.ObjectVal(map[string]cty.Value{"a": cty.True, "b": cty.True.Mark(marks.Sensitive)}),
				"secret":  cty.ObjectVal(map[string]cty.Value{"key": cty.StringVal("hunter2")}).Mark(marks.Sensitive),
				"unknown": cty.UnknownVal(cty.List(cty.String)),
				"any":     cty.DynamicVal,
				"eph":     cty.StringVal("hunter2").Mark(marks.Ephemeral),
			}),
			"local": cty.ObjectVal(map[string]cty.Value{
				"list": cty.TupleVal([]cty.Value{cty.StringVal("only")}),
				"null": cty.NullVal(cty.DynamicPseudoType),
			}),
		},
	}
	child := ctx.NewChild()
	child.Variables = map[string]cty.Value{"each": cty.ObjectVal(map[string]cty.Value{"value": cty.MapValEmpty(cty.String)})}
	return child
}

// failures evaluates every expression of a source and returns what HCL says.
func failures(t *testing.T, src string, ctx *hcl.EvalContext) (diags.Diagnostics, map[string]*hcl.File) {
	t.Helper()
	f, hs := hclsyntax.ParseConfig([]byte(src), "main.tf", hcl.InitialPos)
	if hs.HasErrors() {
		t.Fatal(hs)
	}
	var ds diags.Diagnostics
	for _, b := range f.Body.(*hclsyntax.Body).Blocks {
		for _, a := range b.Body.Attributes {
			_, hs := a.Expr.Value(ctx)
			ds = append(ds, diags.FromHCL(hs)...)
		}
	}
	// HCL goes over operands and objects in no particular order.
	slices.SortStableFunc(ds, func(a, b diags.Diagnostic) int { return a.Subject.Start.Byte - b.Subject.Start.Byte })
	return ds, map[string]*hcl.File{"main.tf": f}
}

// unknownCause is what evaluation attaches where a value must be known.
type unknownCause struct{}

func (unknownCause) DiagnosticCausedByUnknown() bool   { return true }
func (unknownCause) DiagnosticCausedBySensitive() bool { return true }

// diagnosticCases are diagnostics of all forms.
func diagnosticCases(t *testing.T) (diags.Diagnostics, map[string]*hcl.File) {
	t.Helper()
	ds, files := failures(t, diagnosticSource, diagnosticContext())
	tags := files["main.tf"].Body.(*hclsyntax.Body).Blocks[1].Range()
	at := func(line int) *hcl.Range {
		return &hcl.Range{Filename: "main.tf", Start: hcl.Pos{Line: line, Column: 1, Byte: 21}, End: hcl.Pos{Line: line, Column: 1, Byte: 21}}
	}
	expr, _ := hclsyntax.ParseExpression([]byte(`var.secret.key == var.unknown`), "main.tf", hcl.InitialPos)
	ds = append(ds,
		diags.Diagnostic{Severity: diags.Error, Summary: "A count that is not known", Detail: "It must be.", Subject: &tags, Address: "lab_thing.a[0]",
			Expression: expr, EvalContext: diagnosticContext(), Extra: unknownCause{}},
		diags.Diagnostic{Severity: diags.Warning, Summary: "Nothing but a summary"},
		diags.Diagnostic{Severity: diags.Error, Summary: "Only an address", Address: `module.m["a"].lab_thing.a`, Detail: "The provider said no."},
		diags.Diagnostic{Severity: diags.Error, Summary: "No source at hand", Subject: &hcl.Range{Filename: "gone.tf", Start: hcl.Pos{Line: 7, Column: 2}}},
		diags.Diagnostic{Severity: diags.Warning, Summary: "An empty range", Subject: at(3), Detail: strings.Repeat("Long words are broken between words. ", 5) + "\n\n  This line is left as it is, however long it may be, since it begins with a space.\nAnd here it ends."},
		diags.Diagnostic{Severity: diags.Error, Summary: "Escapes\x1b[2J\x07 \u202eesrever", Detail: "A provider that clears\x1b]0;title\x07 the screen.\r\nTabs\tstay."},
	)
	return ds, files
}

func TestDiagnosticText(t *testing.T) {
	t.Parallel()
	ds, files := diagnosticCases(t)
	for name, p := range map[string]*Printer{"plain": {}, "colour": {Color: true, Width: 60}} {
		var b strings.Builder
		for _, d := range ds {
			b.WriteString(p.Diagnostic(d, files))
		}
		compare(t, "diagnostics."+name+".txt", b.String())
		if strings.Contains(b.String(), "hunter2") {
			t.Errorf("%s: a sensitive value is shown", name)
		}
	}
}

func TestDiagnosticTextHasNoControlCharacters(t *testing.T) {
	t.Parallel()
	ds, files := diagnosticCases(t)
	for _, d := range ds {
		for _, r := range (&Printer{}).Diagnostic(d, files) {
			if r < ' ' && r != '\n' && r != '\t' || r == '\u202e' {
				t.Errorf("%q: the text has %q", d.Summary, r)
			}
		}
	}
}

func TestValidateJSON(t *testing.T) {
	t.Parallel()
	ds, files := diagnosticCases(t)
	src, err := formats.Validate(ds, files)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "diagnostics.json", string(src))
	var v tfjson.ValidateOutput
	if err := json.Unmarshal(src, &v); err != nil {
		t.Fatalf("terraform-json cannot read it: %v", err)
	}
	if v.Valid || v.WarningCount != 2 || v.ErrorCount != len(ds)-2 {
		t.Errorf("valid %v, %d errors, %d warnings of %d", v.Valid, v.ErrorCount, v.WarningCount, len(ds))
	}
	if strings.Contains(string(src), "hunter2") {
		t.Error("a sensitive value is shown")
	}
	for _, d := range v.Diagnostics {
		if s := d.Snippet; s != nil && (s.HighlightStartOffset > s.HighlightEndOffset || s.HighlightEndOffset > len(s.Code)) {
			t.Errorf("%s: highlight %d to %d of %d bytes", d.Summary, s.HighlightStartOffset, s.HighlightEndOffset, len(s.Code))
		}
	}
}

// What Terraform 1.11.4 showed of mistakes that are at the end of a line: the lines on both
// sides of the line feed.
func TestSnippetsAtLineEnds(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		src       string
		from, to  int // offsets
		code      string
		highlight [2]int
	}{
		{"output \"x\" {\n  value = 1 +\n}\n", 26, 27, "  value = 1 +\n}", [2]int{13, 14}},
		{"output \"x\" {\r\n  value = 1 +\r\n}\r\n", 27, 29, "  value = 1 +\n}", [2]int{13, 15}},
		{"a = \"b\n}\n", 8, 9, "}", [2]int{1, 1}},
		{"a = 1 +\n\nb = 2\n", 7, 8, "a = 1 +", [2]int{7, 7}},
		{"a = 1\nb = 2\nc = 3\n", 6, 11, "b = 2", [2]int{0, 5}},
	} {
		at := func(offset int) hcl.Pos { return hcl.Pos{Line: 1 + strings.Count(x.src[:offset], "\n"), Byte: offset} }
		d := diags.Diagnostic{Subject: &hcl.Range{Filename: "x.tf", Start: at(x.from), End: at(x.to)}}
		got := formats.NewDiagnostic(d, map[string]*hcl.File{"x.tf": {Bytes: []byte(x.src)}}).Snippet
		if got.Code != x.code || [2]int{got.HighlightStart, got.HighlightEnd} != x.highlight {
			t.Errorf("%q from %d to %d: %q %d %d", x.src, x.from, x.to, got.Code, got.HighlightStart, got.HighlightEnd)
		}
	}
}

func TestValidateJSONOfNothing(t *testing.T) {
	t.Parallel()
	src, err := formats.Validate(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(src, &got); err != nil {
		t.Fatal(err)
	}
	if got["valid"] != true || got["format_version"] != "1.0" || got["diagnostics"] == nil {
		t.Errorf("got %s", src)
	}
}

// Ranges that do not fit the file are no reason to fail.
func TestDiagnosticRangesOutsideTheFile(t *testing.T) {
	t.Parallel()
	f, _ := hclsyntax.ParseConfig([]byte("a = 1\r\nb = 2"), "main.tf", hcl.InitialPos)
	files := map[string]*hcl.File{"main.tf": f}
	for _, r := range []hcl.Range{
		{Start: hcl.Pos{Line: 9, Column: 9, Byte: 900}, End: hcl.Pos{Line: 10, Column: 1, Byte: 1000}},
		{Start: hcl.Pos{Line: 1, Column: 6, Byte: 5}, End: hcl.Pos{Line: 2, Column: 1, Byte: 7}},
		{Start: hcl.Pos{Line: 2, Column: 6, Byte: 12}, End: hcl.Pos{Line: 2, Column: 6, Byte: 12}},
		{Start: hcl.Pos{Line: 2, Column: 5, Byte: 10}, End: hcl.Pos{Line: 1, Column: 1, Byte: 0}},
		{},
	} {
		r.Filename = "main.tf"
		d := diags.Diagnostic{Severity: diags.Error, Summary: "x", Subject: &r}
		x := formats.NewDiagnostic(d, files)
		if s := x.Snippet; s != nil && (s.HighlightStart < 0 || s.HighlightEnd > len(s.Code) || s.HighlightStart > s.HighlightEnd) {
			t.Errorf("%v: highlight %d to %d of %q", r, s.HighlightStart, s.HighlightEnd, s.Code)
		}
		if text := (&Printer{}).Diagnostic(d, files); !strings.Contains(text, "Error: x") {
			t.Errorf("%v: got %q", r, text)
		}
	}
}
