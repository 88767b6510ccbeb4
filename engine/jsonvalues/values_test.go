package jsonvalues_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/jsonvalues"
)

// Numbers and strings that are written in ways of their own.
var (
	oddNumbers = []cty.Value{
		cty.Zero, cty.NumberIntVal(-1), cty.NumberIntVal(1 << 53), cty.NumberIntVal(-1 << 53), cty.NumberIntVal(1<<63 - 1),
		cty.NumberFloatVal(0.1), cty.NumberFloatVal(1e22), cty.NumberFloatVal(1 << 60), cty.NumberFloatVal(-1.5e-9),
		cty.MustParseNumberVal("0.1"), cty.MustParseNumberVal("1e30"), cty.MustParseNumberVal("123456789012345678901234567890.5"),
		cty.NumberVal(new(big.Float).Neg(new(big.Float))),
	}
	oddStrings = []string{
		"", "plain", "with \"quotes\" and \\", "<html> & co", "tab\tnewline\ncontrol\x01\x7f", "é ü 世界 \U0001f600", "e\u0301",
		"\u2028 \u2029", "${x} %{y}", strings.Repeat("long ", 50),
	}
)

// randomType returns a type of at most the given depth.
func randomType(r *rand.Rand, depth int, dynamic bool) cty.Type {
	n := 9
	if depth == 0 {
		n = 3
	}
	switch r.IntN(n) {
	case 0:
		return cty.Bool
	case 1:
		return cty.Number
	case 3:
		return cty.List(randomType(r, depth-1, false))
	case 4:
		return cty.Set(randomType(r, depth-1, false))
	case 5:
		return cty.Map(randomType(r, depth-1, false))
	case 6:
		var tys []cty.Type
		for range r.IntN(3) {
			tys = append(tys, randomType(r, depth-1, dynamic))
		}
		return cty.Tuple(tys)
	case 7:
		tys := map[string]cty.Type{}
		for range r.IntN(4) {
			tys[[]string{"a", "b", "name", "with space", "ä", `"`}[r.IntN(6)]] = randomType(r, depth-1, dynamic)
		}
		return cty.Object(tys)
	case 8:
		if dynamic {
			return cty.DynamicPseudoType
		}
	}
	return cty.String
}

// randomValue returns a known value of type ty.
func randomValue(r *rand.Rand, ty cty.Type) cty.Value {
	if r.IntN(10) == 0 {
		return cty.NullVal(ty)
	}
	vals := func(ety cty.Type) []cty.Value {
		var out []cty.Value
		for range r.IntN(4) {
			out = append(out, randomValue(r, ety))
		}
		return out
	}
	switch {
	case ty == cty.DynamicPseudoType:
		return randomValue(r, randomType(r, 2, false))
	case ty == cty.Bool:
		return cty.BoolVal(r.IntN(2) == 0)
	case ty == cty.Number:
		if r.IntN(2) == 0 {
			return cty.NumberIntVal(r.Int64() >> r.IntN(64))
		}
		return oddNumbers[r.IntN(len(oddNumbers))]
	case ty == cty.String:
		return cty.StringVal(oddStrings[r.IntN(len(oddStrings))])
	case ty.IsListType():
		if vs := vals(ty.ElementType()); len(vs) > 0 {
			return cty.ListVal(vs)
		}
		return cty.ListValEmpty(ty.ElementType())
	case ty.IsSetType():
		if vs := vals(ty.ElementType()); len(vs) > 0 {
			return cty.SetVal(vs)
		}
		return cty.SetValEmpty(ty.ElementType())
	case ty.IsMapType():
		m := map[string]cty.Value{}
		for i, v := range vals(ty.ElementType()) {
			m[oddStrings[i]] = v
		}
		if len(m) > 0 {
			return cty.MapVal(m)
		}
		return cty.MapValEmpty(ty.ElementType())
	case ty.IsTupleType():
		var vs []cty.Value
		for _, ety := range ty.TupleElementTypes() {
			vs = append(vs, randomValue(r, ety))
		}
		return cty.TupleVal(vs)
	}
	m := map[string]cty.Value{}
	for name, aty := range ty.AttributeTypes() {
		m[name] = randomValue(r, aty)
	}
	return cty.ObjectVal(m)
}

func TestJSONIsThatOfCty(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 5000 {
		ty := randomType(r, 3, true)
		v := randomValue(r, ty)
		want, err := ctyjson.Marshal(v, ty)
		if err != nil {
			t.Fatal(err)
		}
		got, err := jsonvalues.Append([]byte("before:"), v, ty)
		if err != nil || string(got) != "before:"+string(want) {
			t.Fatalf("%#v of %#v\ngot  %s, %v\nwant %s", v, ty, got, err, want)
		}
		parsesLikeCty(t, want, ty)
	}
}

// parsesLikeCty fails t unless both parsers make the same of src.
func parsesLikeCty(t *testing.T, src []byte, ty cty.Type) {
	t.Helper()
	want, werr := ctyUnmarshal(src, ty)
	got, err := jsonvalues.Parse(src, ty)
	if (err == nil) != (werr == nil) {
		t.Fatalf("%s of %#v: error %v, want %v", src, ty, err, werr)
	}
	if err == nil && !got.RawEquals(want) {
		t.Fatalf("%s of %#v\ngot  %#v\nwant %#v", src, ty, got, want)
	}
}

// ctyUnmarshal is cty's Unmarshal with an error where that panics.
func ctyUnmarshal(src []byte, ty cty.Type) (v cty.Value, err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("panic: %v", e)
		}
	}()
	return ctyjson.Unmarshal(src, ty)
}

func TestJSONConvertsAndRefusesLikeCty(t *testing.T) {
	obj := cty.Object(map[string]cty.Type{"a": cty.String, "b": cty.List(cty.Number)})
	for _, test := range []struct {
		v  cty.Value
		ty cty.Type
	}{
		{cty.NumberIntVal(5), cty.String},
		{cty.StringVal("5"), cty.Number},
		{cty.StringVal("x"), cty.Number},
		{cty.EmptyTupleVal, cty.List(cty.String)},
		{cty.TupleVal([]cty.Value{cty.Zero, cty.StringVal("x")}), cty.List(cty.String)},
		{cty.ObjectVal(map[string]cty.Value{"a": cty.Zero, "b": cty.EmptyTupleVal}), obj},
		{cty.ObjectVal(map[string]cty.Value{"a": cty.Zero}), obj},
		{cty.ObjectVal(map[string]cty.Value{"a": cty.Zero, "c": cty.Zero}), obj},
		{cty.ObjectVal(map[string]cty.Value{"a": cty.Zero}), cty.Map(cty.Number)},
		{cty.NullVal(cty.DynamicPseudoType), obj},
		{cty.NullVal(cty.String), cty.Number},
		{cty.UnknownVal(cty.String), cty.String},
		{cty.StringVal("x").Mark("m"), cty.String},
		{cty.ListVal([]cty.Value{cty.UnknownVal(cty.String)}), cty.List(cty.String)},
		{cty.PositiveInfinity, cty.Number},
		{cty.StringVal("x"), cty.DynamicPseudoType},
		{cty.ListVal([]cty.Value{cty.StringVal("x")}), cty.List(cty.DynamicPseudoType)},
	} {
		want, werr := ctyjson.Marshal(test.v, test.ty)
		got, err := jsonvalues.Append(nil, test.v, test.ty)
		if string(got) != string(want) || (err == nil) != (werr == nil) {
			t.Errorf("%#v as %#v\ngot  %s, %v\nwant %s, %v", test.v, test.ty, got, err, want, werr)
		}
	}
}

var jsonTexts = []string{
	`null`, `true`, `false`, `"x"`, `5`, `-0`, `-0.0`, `0`, `01`, `+1`, `.5`, `1.`, `1.50`, `1e3`, `1E+3`, `1e`, `123456789012345678`, `1234567890123456789`,
	`[]`, `{}`, ` [ 1 , 2 ] `, `[1,]`, `[,1]`, `[1 2]`, `{"a":1,}`, `{"a" 1}`, `{"a":"x","a":"y"}`, `{"a":"x","b":[1]}`, `{"b":[1],"a":"x"}`,
	`{"c":1}`, `["x","x"]`, `[["x"],["y"]]`, `{"value":"x","type":"string"}`, `{"type":"string","value":"x"}`, `{"value":1}`, `{"type":"string"}`,
	`{"value":{"a":[1,"]"]},"type":["object",{"a":["tuple",["number","string"]]}]}`, `{"value":null,"type":"number"}`, `{"value":5,"type":"string"}`,
	`{"value":"x","type":"string","x":1}`, `{"value":[{"value":1,"type":"number"}],"type":["list","dynamic"]}`,
	"\"\\u00e9\\ud83d\\ude00\\n\"", "\"\xff\"", "\"\x01\"", `"unterminated`, `nul`, `truely`, `1 2`, ``, ` `, `"a" "b"`, `[1,2,3`, `{"a":{"b":{"c":[{}]}}}`,
}

func TestParseJSONReadsWhatCtyReads(t *testing.T) {
	types := []cty.Type{
		cty.String, cty.Number, cty.Bool, cty.DynamicPseudoType, cty.List(cty.Number), cty.Set(cty.String), cty.Map(cty.String),
		cty.Tuple([]cty.Type{cty.Number, cty.Number}), cty.EmptyTuple, cty.EmptyObject,
		cty.Object(map[string]cty.Type{"a": cty.String, "b": cty.List(cty.Number)}),
		cty.Object(map[string]cty.Type{"a": cty.DynamicPseudoType}),
	}
	for _, text := range jsonTexts {
		for _, ty := range types {
			parsesLikeCty(t, []byte(text), ty)
		}
	}
}

func FuzzParseJSON(f *testing.F) {
	for _, text := range jsonTexts {
		f.Add([]byte(text))
	}
	types := []cty.Type{
		cty.String, cty.Number, cty.Bool, cty.List(cty.Number), cty.Set(cty.String), cty.Map(cty.List(cty.Bool)),
		cty.Object(map[string]cty.Type{"a": cty.String, "b": cty.List(cty.Number), "c": cty.DynamicPseudoType}),
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, ty := range types {
			parsesLikeCty(t, src, ty)
		}
	})
}

// Lists of dynamically typed elements that differ are refused rather than a panic.
func TestParseJSONRefusesMixedLists(t *testing.T) {
	src := []byte(`[{"value":1,"type":"number"},{"value":"x","type":"string"}]`)
	for _, ty := range []cty.Type{cty.List(cty.DynamicPseudoType), cty.Set(cty.DynamicPseudoType)} {
		if _, err := jsonvalues.Parse(src, ty); err == nil {
			t.Errorf("%#v is accepted", ty)
		}
	}
}

// TestDynamicTypesAreMet reads values of many types: the codecs that are kept make no
// difference, also when there are too many to keep.
func TestDynamicTypesAreMet(t *testing.T) {
	t.Parallel()
	c := jsonvalues.NewCodec(cty.DynamicPseudoType)
	for range 2 {
		for i := range 1100 {
			name := fmt.Sprintf("a%d", i)
			src := fmt.Sprintf(`{"value":{%q:"x"},"type":["object",{%q:"string"}]}`, name, name)
			got, err := c.Parse([]byte(src))
			if want := cty.ObjectVal(map[string]cty.Value{name: cty.StringVal("x")}); err != nil || !got.RawEquals(want) {
				t.Fatalf("%#v, %v", got, err)
			}
		}
	}
	if _, err := c.Parse([]byte(`{"value":1,"type":["nope"]}`)); err == nil {
		t.Error("a type that is none")
	}
}
