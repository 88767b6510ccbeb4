package funcs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/parsing"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// A row is an expression and what Terraform 1.11.4 made of it: a value (after an
// apply), a planned value with its unknown parts, or errors.
type row struct {
	Expr string
	Want struct {
		Type         json.RawMessage
		Value        json.RawMessage
		After        json.RawMessage
		AfterUnknown json.RawMessage `json:"after_unknown"`
		Sensitive    bool
		Error        []struct{ Summary, Detail, At string }
	}
}

// TestExpressions compares the results with those of Terraform 1.11.4, in the language of 1.11 without any exception.
func TestExpressions(t *testing.T) {
	files, err := filepath.Glob("testdata/expressions/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded expressions: %v", err)
	}
	for _, file := range files {
		for _, v := range []language.Version{language.Newest, language.V1_11} {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".json")+" "+v.Release(), func(t *testing.T) {
				t.Parallel()
				rows := readRows(t, file)
				planning := strings.Contains(file, "unknowns")
				ctx := fixture(t, v, planning)
				for _, r := range rows {
					if complaint := r.check(ctx, v, planning); complaint != "" {
						t.Errorf("%s\n%s", r.Expr, complaint)
					}
				}
			})
		}
	}
}

func readRows(t *testing.T, file string) []row {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	if err := json.Unmarshal(raw, &rows); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return rows
}

// fixture is the scope of testdata/fixtures. While planning, the resources there
// are not known, and local values that refer to them exist.
func fixture(t *testing.T, v language.Version, planning bool) *hcl.EvalContext {
	t.Helper()
	ctx := &hcl.EvalContext{
		Functions: Table(Scope{
			BaseDir:       "testdata/fixtures",
			Home:          "/nonexistent",
			PlanTimestamp: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
			PureOnly:      planning,
			Language:      v,
		}),
		Variables: map[string]cty.Value{
			"path":      cty.ObjectVal(map[string]cty.Value{"module": cty.StringVal("."), "root": cty.StringVal(".")}),
			"terraform": cty.ObjectVal(map[string]cty.Value{"workspace": cty.StringVal("default")}),
		},
	}
	locals := map[string]cty.Value{}
	sources := []string{"base.tf", "more.tf"}
	if planning {
		sources = append(sources, "unk.tf")
		ctx.Variables["terraform_data"] = unknownResources()
	}
	for _, name := range sources {
		raw, err := os.ReadFile(filepath.Join("testdata/fixtures", name))
		if err != nil {
			t.Fatal(err)
		}
		f, diags := hclsyntax.ParseConfig(raw, name, hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		for _, block := range f.Body.(*hclsyntax.Body).Blocks {
			if block.Type != "locals" {
				continue
			}
			for key, attr := range block.Body.Attributes {
				v, diags := attr.Expr.Value(ctx)
				if diags.HasErrors() {
					t.Fatal(diags)
				}
				locals[key] = v
			}
		}
	}
	ctx.Variables["local"] = cty.ObjectVal(locals)
	return ctx
}

// unknownResources are the planned terraform_data of unk.tf.
func unknownResources() cty.Value {
	data := func(input cty.Value) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{
			"id":               cty.UnknownVal(cty.String).RefineNotNull(),
			"input":            input,
			"output":           cty.UnknownVal(input.Type()),
			"triggers_replace": cty.NullVal(cty.DynamicPseudoType),
		})
	}
	counted := func(i int64) cty.Value {
		return data(cty.ObjectVal(map[string]cty.Value{"i": cty.NumberIntVal(i), "lit": cty.StringVal("known")}))
	}
	return cty.ObjectVal(map[string]cty.Value{
		"u": data(cty.StringVal("x")),
		"c": cty.TupleVal([]cty.Value{counted(0), counted(1)}),
		"f": cty.ObjectVal(map[string]cty.Value{"a": data(cty.NumberIntVal(1)), "b": data(cty.NumberIntVal(2))}),
	})
}

// evaluate evaluates an expression as it stands in `value = { v = EXPR }`.
func evaluate(expr string, spoken language.Version, ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	src := fmt.Sprintf("value = { v = %s\n  }\n", expr)
	f, diags := hclsyntax.ParseConfig([]byte(src), "e.tf", hcl.InitialPos)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	if spoken == language.V1_11 {
		parsing.UseBothOperands(f)
	}
	v, diags := f.Body.(*hclsyntax.Body).Attributes["value"].Expr.Value(ctx)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	whole, ms := v.Unmark()
	return whole.GetAttr("v").WithMarks(ms), nil
}

// newer are the expressions of the corpus with another result since Terraform 1.15: errors of 1.11 that have a value now, or another error
// ([cty.NilVal]).
// Source: go-cty 1.16.2 (negative indices of tuples), 1.18.1 (contains with null) and 1.20 (signum of fractions).
var newer = map[string]cty.Value{
	`contains(["a"], null)`:        cty.False,
	`element(["a", "b", "c"], -1)`: cty.StringVal("c"),
	`element([1,2,3], -1)`:         cty.NumberIntVal(3),
	`signum("0.1")`:                cty.NumberIntVal(1),
	`signum(-1.5)`:                 cty.NumberIntVal(-1),
	`contains("abc", null)`:        cty.NilVal,
	`contains(2, null)`:            cty.NilVal,
	// A null is known. Terraform 1.11.4 plans an unknown value.
	`format("abc", null)`:               cty.NilVal,
	`format(2, null)`:                   cty.NilVal,
	`formatlist("abc", null)`:           cty.NilVal,
	`formatlist("a", null)`:             cty.NilVal,
	`formatlist(2, null)`:               cty.NilVal,
	`format("a%s", jsondecode("null"))`: cty.NilVal,
	`format("a%s", null)`:               cty.NilVal,
	`formatlist("a%s", null)`:           cty.NilVal,
}

// check returns what differs from the recording, or nothing.
func (r row) check(ctx *hcl.EvalContext, spoken language.Version, planning bool) string {
	v, diags := evaluate(r.Expr, spoken, ctx)
	if want, is := newer[r.Expr]; is && spoken == language.Newest {
		if diags.HasErrors() != (want == cty.NilVal) || want != cty.NilVal && !v.RawEquals(want) {
			return fmt.Sprintf("got %#v (%v), want %#v", v, diags, want)
		}
		return ""
	}
	if len(r.Want.Error) > 0 {
		return r.checkError(v, diags, planning)
	}
	if diags.HasErrors() {
		return "error: " + diags.Error()
	}
	if got := marks.Contains(v, marks.Sensitive); got != r.Want.Sensitive {
		return fmt.Sprintf("sensitive: got %v, want %v", got, r.Want.Sensitive)
	}
	v, _ = v.UnmarkDeep()
	if planning {
		got := map[string]any{"after": known(v), "after_unknown": unknown(v)}
		want := map[string]any{"after": decode(r.Want.After), "after_unknown": decode(r.Want.AfterUnknown)}
		return cmp.Diff(want, got)
	}
	if !v.IsWhollyKnown() {
		v = cty.UnknownAsNull(v) // as an output is stored
	}
	ty, err := ctyjson.MarshalType(v.Type())
	if err != nil {
		return err.Error()
	}
	raw, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		return err.Error()
	}
	got := map[string]any{"type": decode(ty), "value": decode(raw)}
	want := map[string]any{"type": decode(r.Want.Type), "value": decode(r.Want.Value)}
	return cmp.Diff(want, got)
}

func (r row) checkError(v cty.Value, diags hcl.Diagnostics, planning bool) string {
	var wants []string
	for _, want := range r.Want.Error {
		wants = append(wants, plain(want.Summary+": "+want.Detail))
	}
	want := r.Want.Error[0]
	if !diags.HasErrors() {
		if want.At == "plan-serialization" && hasInfinity(v) {
			return ""
		}
		return fmt.Sprintf("no error; want %s: %s", want.Summary, want.Detail)
	}
	got := diags.Errs()[0].(*hcl.Diagnostic)
	if strings.Contains(got.Detail, "goroutine") {
		return "an error with a stack trace: " + got.Detail
	}
	switch {
	case planning: // the recorded text is from validation, where unknown values had no type
		return ""
	case !strings.Contains(want.Summary, "function"): // a matter of the language
		return ""
	case strings.Contains(want.Detail, "goroutine"): // a crash that we do not copy
		return ""
	}
	if text := plain(got.Summary + ": " + got.Detail); !slices.Contains(wants, text) {
		return fmt.Sprintf("got  %s\nwant %s", text, strings.Join(wants, "\n  or "))
	}
	return ""
}

var (
	newerMismatch = regexp.MustCompile(`( required), but have [a-z ]+`)
	place         = regexp.MustCompile(`\(at [^)]*\)`)
	nopeNamed     = regexp.MustCompile(` Did you mean "\w+"\?`)
)

// plain takes off what depends on the library's version or on the place.
func plain(message string) string {
	message = newerMismatch.ReplaceAllString(strings.ReplaceAll(message, "of any single type", "of dynamic"), "$1")
	return nopeNamed.ReplaceAllString(place.ReplaceAllString(message, "(at …)"), "")
}

func decode(raw []byte) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var out any
	if err := d.Decode(&out); err != nil {
		return fmt.Sprintf("%s: %v", raw, err)
	}
	return out
}

func hasInfinity(v cty.Value) bool {
	found := false
	v, _ = v.UnmarkDeep()
	_ = cty.Walk(v, func(_ cty.Path, v cty.Value) (bool, error) {
		if v.Type() == cty.Number && v.IsKnown() && !v.IsNull() {
			found = found || v.AsBigFloat().IsInf()
		}
		return true, nil
	})
	return found
}

// known is a value as `show -json` writes planned ones: what is not known is left
// out of objects and maps, and null elsewhere.
func known(v cty.Value) any {
	ty := v.Type()
	switch {
	case !v.IsKnown() || v.IsNull():
		return nil
	case ty.IsObjectType(), ty.IsMapType():
		out := map[string]any{}
		for k, e := range v.Elements() {
			if e.IsKnown() {
				out[k.AsString()] = known(e)
			}
		}
		return out
	case v.CanIterateElements():
		out := []any{}
		for _, e := range v.Elements() {
			out = append(out, known(e))
		}
		return out
	}
	raw, err := ctyjson.Marshal(v, ty)
	if err != nil {
		return err.Error()
	}
	return decode(raw)
}

// unknown tells which parts of a value are not known, as `show -json` does.
func unknown(v cty.Value) any {
	if v.IsWhollyKnown() {
		return false
	}
	return unknownParts(v)
}

func unknownParts(v cty.Value) any {
	switch ty := v.Type(); {
	case !v.IsKnown():
		return true
	case v.IsNull():
		return false
	case ty.IsObjectType(), ty.IsMapType():
		out := map[string]any{}
		for k, e := range v.Elements() {
			if u := unknownParts(e); u != false {
				out[k.AsString()] = u
			}
		}
		return out
	case v.CanIterateElements():
		out := []any{}
		for _, e := range v.Elements() {
			out = append(out, unknownParts(e))
		}
		return out
	}
	return false
}
