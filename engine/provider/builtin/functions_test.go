package builtin

import (
	"errors"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/provider"
)

// TestFunctions is a table of calls.
func TestFunctions(t *testing.T) {
	object := func(attrs map[string]cty.Value) cty.Value { return cty.ObjectVal(attrs) }
	list := cty.ListVal([]cty.Value{str("a"), str("b")})
	for name, tc := range map[string]struct {
		f    string
		in   cty.Value
		want cty.Value
		err  string
	}{
		"tfvars": {"encode_tfvars", object(map[string]cty.Value{"b": list, "a": str("x\"${y}"), "n": cty.NullVal(cty.String)}),
			str("a = \"x\\\"$${y}\"\nb = [\"a\", \"b\"]\nn = null\n"), ""},
		"tfvars of a map":          {"encode_tfvars", cty.MapVal(map[string]cty.Value{"k": cty.True}), str("k = true\n"), ""},
		"tfvars of nothing":        {"encode_tfvars", cty.EmptyObjectVal, str(""), ""},
		"tfvars not known":         {"encode_tfvars", object(map[string]cty.Value{"a": cty.UnknownVal(cty.String)}), unknownText, ""},
		"tfvars not known at all":  {"encode_tfvars", cty.DynamicVal, unknownText, ""},
		"tfvars of null":           {"encode_tfvars", cty.NullVal(cty.DynamicPseudoType), cty.NilVal, "null value"},
		"tfvars of a list":         {"encode_tfvars", list, cty.NilVal, "must be an object"},
		"tfvars, bad name":         {"encode_tfvars", object(map[string]cty.Value{"a b": cty.True}), cty.NilVal, `invalid variable name "a b"`},
		"decode":                   {"decode_tfvars", str("a = \"x\"\nb = [1, { c = null }]\n"), object(map[string]cty.Value{"a": str("x"), "b": cty.TupleVal([]cty.Value{cty.NumberIntVal(1), object(map[string]cty.Value{"c": cty.NullVal(cty.DynamicPseudoType)})})}), ""},
		"decode nothing":           {"decode_tfvars", str(""), cty.EmptyObjectVal, ""},
		"decode what is not known": {"decode_tfvars", cty.UnknownVal(cty.String), cty.DynamicVal, ""},
		"decode null":              {"decode_tfvars", cty.NullVal(cty.String), cty.NilVal, "null value"},
		"decode bad syntax":        {"decode_tfvars", str("a ="), cty.NilVal, "invalid tfvars syntax"},
		"decode a block":           {"decode_tfvars", str("a {}"), cty.NilVal, "invalid tfvars content"},
		"decode a reference":       {"decode_tfvars", str("a = b"), cty.NilVal, `invalid expression for variable "a"`},
		"expr":                     {"encode_expr", object(map[string]cty.Value{"a": cty.NumberIntVal(1)}), str("{\n  a = 1\n}"), ""},
		"expr of null":             {"encode_expr", cty.NullVal(cty.String), str("null"), ""},
		"expr of a text":           {"encode_expr", cty.UnknownVal(cty.String).RefineNotNull(), textBeginning(`"`), ""},
		"expr of a text or null":   {"encode_expr", cty.UnknownVal(cty.String), unknownText, ""},
		"expr of an object":        {"encode_expr", object(map[string]cty.Value{"a": cty.DynamicVal}), textBeginning("{"), ""},
		"expr of a list":           {"encode_expr", cty.ListVal([]cty.Value{cty.UnknownVal(cty.String)}), textBeginning("["), ""},
		"expr of a number":         {"encode_expr", cty.UnknownVal(cty.Number).RefineNotNull(), unknownText, ""},
	} {
		got, err := New(nil).CallFunction(t.Context(), tc.f, []cty.Value{tc.in})
		if tc.err != "" {
			var fe *provider.FunctionError
			if !errors.As(err, &fe) || fe.Argument != 0 || !strings.Contains(fe.Text, tc.err) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || !got.RawEquals(tc.want) {
			t.Errorf("%s: %#v, want %#v, %v", name, got, tc.want, err)
		}
	}
	if _, err := New(nil).CallFunction(t.Context(), "no_such", nil); err == nil {
		t.Error("a function that is not there")
	}
	if _, err := New(nil).CallFunction(t.Context(), "encode_expr", nil); err == nil {
		t.Error("a call without an argument")
	}
}

// FuzzTfvars: what decodes can be encoded, and decodes to the same.
func FuzzTfvars(f *testing.F) {
	for _, src := range []string{"", "a = 1", "a = \"x${\"y\"}\"\nb = [true, { c = null }]", "a = <<E\nx\nE\n", "a = 1e400"} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		c := New(nil)
		v, err := c.CallFunction(t.Context(), "decode_tfvars", []cty.Value{str(src)})
		if err != nil || !v.IsWhollyKnown() {
			return
		}
		text, err := c.CallFunction(t.Context(), "encode_tfvars", []cty.Value{v})
		if err != nil {
			t.Fatalf("%#v cannot be encoded: %s", v, err)
		}
		again, err := c.CallFunction(t.Context(), "decode_tfvars", []cty.Value{text})
		if err != nil || !again.RawEquals(v) {
			t.Errorf("%q: %#v becomes %#v (%v) by way of %s", src, v, again, err, text.AsString())
		}
	})
}
