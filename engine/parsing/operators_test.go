package parsing

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// TestUseBothOperands evaluates expressions with both kinds of operators. In the older kind, an unknown operand makes the
// result unknown, and an error in one is an error, wherever the operator stands. The other operators stay.
func TestUseBothOperands(t *testing.T) {
	t.Parallel()
	ctx := &hcl.EvalContext{
		Variables: map[string]cty.Value{"u": cty.UnknownVal(cty.Bool), "n": cty.NullVal(cty.String), "yes": cty.True},
		Functions: map[string]function.Function{"upper": stdlib.UpperFunc, "not": stdlib.NotFunc},
	}
	parsers := map[string]func(string) *hcl.File{
		"native": func(x string) *hcl.File {
			f, ds := Config([]byte("x = "+x+"\n"), "main.tf")
			if ds.HasErrors() {
				t.Fatal(ds)
			}
			return f
		},
		"JSON": func(x string) *hcl.File {
			f, ds := JSON([]byte(`{"x": "${`+x+`}"}`), "main.tf.json")
			if ds.HasErrors() {
				t.Fatal(ds)
			}
			return f
		},
		"nested JSON": func(x string) *hcl.File {
			f, ds := JSON([]byte(`{"x": [{"k": "${`+x+`}"}]}`), "main.tf.json")
			if ds.HasErrors() {
				t.Fatal(ds)
			}
			return f
		},
	}
	outcome := func(f *hcl.File) string {
		attrs, ds := f.Body.JustAttributes()
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		switch v, ds := attrs["x"].Expr.Value(ctx); {
		case ds.HasErrors():
			return "error"
		case !v.IsWhollyKnown():
			return "unknown"
		}
		return "known"
	}
	for x, want := range map[string]string{
		"yes || upper(n) == null":              "error",
		"upper(n) == null || yes":              "error",
		"!yes && upper(n) == null":             "error",
		"u && false":                           "unknown",
		"true || u":                            "unknown",
		"[for y in [1] : u && false]":          "unknown",
		"{for y in [1] : y => (true || u)}":    "unknown",
		"not(u && false)":                      "unknown",
		"[u && false][0] ? 1 : 2":              "unknown",
		"(u && false) == true":                 "unknown",
		"-1 + (yes || upper(n) == null ? 1:2)": "error",
		"!(true || u)":                         "unknown",
		"yes && true":                          "known",
		"yes ? 1 : upper(n)":                   "known",
	} {
		for name, parse := range parsers {
			if got := outcome(parse(x)); got != "known" {
				t.Errorf("%s, %s: today's operators: %s", name, x, got)
			}
			f := parse(x)
			UseBothOperands(f)
			if got := outcome(f); got != want {
				t.Errorf("%s, %s: got %s, want %s", name, x, got, want)
			}
		}
	}
	e, ds := Template([]byte("${yes || upper(n) == null}"), "t")
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	UseBothOperandsIn(e)
	if _, ds := e.Value(ctx); !ds.HasErrors() {
		t.Error("a template decides with one operand")
	}
	if hclsyntax.OpLogicalAnd.ShortCircuit == nil || hclsyntax.OpLogicalOr.ShortCircuit == nil {
		t.Error("the operators of others have changed")
	}
}
