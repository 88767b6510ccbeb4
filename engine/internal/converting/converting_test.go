package converting

import (
	"fmt"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// many is n elements by turns.
func many(n int, of ...cty.Value) []cty.Value {
	list := make([]cty.Value, n)
	for i := range list {
		list[i] = of[i%len(of)]
	}
	return list
}

func named(list []cty.Value) cty.Value {
	attrs := map[string]cty.Value{}
	for i, v := range list {
		attrs[fmt.Sprint("a", i)] = v
	}
	return cty.ObjectVal(attrs)
}

var elements = map[string][]cty.Value{
	"numbers":        {cty.NumberIntVal(1)},
	"mixed":          {cty.NumberIntVal(1), cty.StringVal("a"), cty.True},
	"nulls":          {cty.NullVal(cty.DynamicPseudoType), cty.NumberIntVal(1)},
	"unknowns":       {cty.UnknownVal(cty.String), cty.NumberIntVal(1)},
	"all unknown":    {cty.DynamicVal},
	"marked":         {cty.StringVal("a").Mark("secret"), cty.NumberIntVal(1)},
	"tuples":         {cty.TupleVal([]cty.Value{cty.True}), cty.TupleVal([]cty.Value{cty.StringVal("a")})},
	"tuples, uneven": {cty.EmptyTupleVal, cty.TupleVal([]cty.Value{cty.StringVal("a"), cty.True})},
	"objects":        {cty.ObjectVal(map[string]cty.Value{"a": cty.True}), cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("x")})},
	"unlike":         {cty.ObjectVal(map[string]cty.Value{"a": cty.True}), cty.ObjectVal(map[string]cty.Value{"b": cty.True})},
	"impossible":     {cty.EmptyTupleVal, cty.EmptyObjectVal, cty.True},
	"lists, tuples":  {cty.ListVal([]cty.Value{cty.True}), cty.TupleVal([]cty.Value{cty.StringVal("a")})},
}

// The outcome is go-cty's own.
func TestConvertIsTheLibrarys(t *testing.T) {
	for name, of := range elements {
		list := many(few+10, of...)
		for _, v := range []cty.Value{cty.TupleVal(list), named(list), cty.TupleVal(list).Mark("m")} {
			for _, want := range []cty.Type{
				cty.List(cty.DynamicPseudoType), cty.Set(cty.DynamicPseudoType), cty.Map(cty.DynamicPseudoType),
				cty.List(cty.List(cty.DynamicPseudoType)), cty.List(cty.String), cty.DynamicPseudoType,
			} {
				t.Run(fmt.Sprintf("%s/%s", name, want.FriendlyName()), func(t *testing.T) {
					same(t, v, want)
					same(t, cty.TupleVal([]cty.Value{v, v}), cty.List(want))
					same(t, cty.ObjectVal(map[string]cty.Value{"x": v}), cty.Object(map[string]cty.Type{"x": want}))
				})
			}
		}
	}
}

func same(t *testing.T, v cty.Value, want cty.Type) {
	t.Helper()
	wanted, wantErr := convert.Convert(v, want)
	got, err := Convert(v, want)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Errorf("error %v, the library's is %v", err, wantErr)
	}
	if err == nil && !got.RawEquals(wanted) {
		t.Errorf("%.200s, the library has %.200s", fmt.Sprintf("%#v", got), fmt.Sprintf("%#v", wanted))
	}
}

// Many elements take time by their number.
func TestConvertInTime(t *testing.T) {
	for name, of := range elements {
		list := many(50_000, of...)
		for _, v := range []cty.Value{cty.TupleVal(list), cty.TupleVal(append(list, many(50_000, cty.StringVal("z"))...))} {
			start := time.Now()
			Convert(v, cty.List(cty.DynamicPseudoType))
			if d := time.Since(start); d > 10*time.Second {
				t.Errorf("%s: %d elements took %v", name, v.LengthInt(), d)
			}
		}
	}
	var all []cty.Value
	for i := range 20_000 {
		all = append(all, cty.ObjectVal(map[string]cty.Value{fmt.Sprint("a", i): cty.True}))
	}
	if _, err := Convert(cty.TupleVal(all), cty.List(cty.DynamicPseudoType)); err == nil {
		t.Error("20,000 different types were compared")
	}
}
