package marks

import (
	"math/big"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

// TestEqual compares each value with each, and with what cty finds.
func TestEqual(t *testing.T) {
	t.Parallel()
	object := func(v cty.Value) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("y"), "b": v})
	}
	secret := cty.StringVal("x").Mark(Sensitive)
	var all []cty.Value
	for _, v := range []cty.Value{
		cty.StringVal("x"), cty.StringVal("1"), cty.NumberIntVal(1), cty.NumberVal(new(big.Float).SetPrec(512).SetInt64(1)), cty.NumberFloatVal(0.1),
		cty.MustParseNumberVal("0.1"), cty.True, cty.False, secret, cty.NullVal(cty.String), cty.NullVal(cty.Number), cty.NullVal(cty.DynamicPseudoType),
		cty.UnknownVal(cty.String), cty.UnknownVal(cty.String).RefineNotNull(), cty.DynamicVal, cty.EmptyObjectVal, cty.EmptyTupleVal,
		cty.ListValEmpty(cty.String), cty.ListValEmpty(cty.Number), cty.MapValEmpty(cty.String), cty.SetValEmpty(cty.String),
		cty.ListVal([]cty.Value{cty.StringVal("x"), secret}), cty.SetVal([]cty.Value{cty.StringVal("x")}), cty.MapVal(map[string]cty.Value{"b": cty.StringVal("x")}),
		cty.NilVal,
	} {
		all = append(all, v)
		if v != cty.NilVal {
			all = append(all, object(v), object(object(v)), cty.TupleVal([]cty.Value{v, cty.True}), cty.TupleVal([]cty.Value{object(v)}), cty.ObjectVal(map[string]cty.Value{"b": v}))
		}
	}
	for _, a := range all {
		for _, b := range all {
			want := a == cty.NilVal && b == cty.NilVal
			if a != cty.NilVal && b != cty.NilVal {
				want = a.RawEquals(b)
			}
			if got := Equal(a, b); got != want {
				t.Errorf("%#v and %#v: %v", a, b, got)
			}
		}
	}
}
