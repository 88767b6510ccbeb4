package tfplugin

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/proto"

	"github.com/lockstep-iac/lockstep/engine/diags"
)

// TestValues: what is encoded decodes to the same, refinements included.
func TestValues(t *testing.T) {
	ty := cty.Object(map[string]cty.Type{
		"s": cty.String, "n": cty.Number, "any": cty.DynamicPseudoType,
		"l": cty.List(cty.String), "m": cty.Map(cty.Bool),
	})
	full := map[string]cty.Value{
		"s": cty.StringVal("é"), "n": cty.MustParseNumberVal("0.1"), "any": cty.TupleVal([]cty.Value{cty.True, cty.NullVal(cty.String)}),
		"l": cty.ListValEmpty(cty.String), "m": cty.MapVal(map[string]cty.Value{"k": cty.UnknownVal(cty.Bool)}),
	}
	with := func(name string, v cty.Value) cty.Value {
		out := map[string]cty.Value{}
		for k, old := range full {
			out[k] = old
		}
		out[name] = v
		return cty.ObjectVal(out)
	}
	for _, v := range []cty.Value{
		cty.ObjectVal(full),
		cty.NullVal(ty),
		with("s", cty.UnknownVal(cty.String).RefineNotNull()),
		with("s", cty.UnknownVal(cty.String).Refine().StringPrefixFull("arn:").NewValue()),
		with("l", cty.UnknownVal(cty.List(cty.String)).Refine().CollectionLengthLowerBound(2).NewValue()),
		with("any", cty.DynamicVal),
		with("any", cty.NullVal(cty.DynamicPseudoType)),
		with("n", cty.MustParseNumberVal("123456789012345678901234567890")),
	} {
		got, err := decode(encode(v, ty), ty)
		if err != nil || !got.RawEquals(v) {
			t.Errorf("%#v comes back as %#v, %v", v, got, err)
		}
	}
	if got, err := decode(nil, ty); err != nil || !got.RawEquals(cty.NullVal(ty)) {
		t.Errorf("no value: %#v, %v", got, err)
	}
	if got, err := decode(encode(cty.NilVal, ty), ty); err != nil || !got.RawEquals(cty.NullVal(ty)) {
		t.Errorf("NilVal: %#v, %v", got, err)
	}
	if got, err := decode(&DynamicValue{Json: []byte(`"x"`)}, cty.String); err != nil || !got.RawEquals(cty.StringVal("x")) {
		t.Errorf("JSON: %#v, %v", got, err)
	}
	if _, err := decode(&DynamicValue{Msgpack: []byte{0xc1}}, ty); err == nil {
		t.Error("nonsense decodes")
	}
}

// TestEncodeBug: values that do not conform are our bug.
func TestEncodeBug(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("nobody noticed")
		}
	}()
	encode(cty.StringVal("x"), cty.List(cty.String))
}

// TestDiagnostics: severities, and paths as far as they are understood.
func TestDiagnostics(t *testing.T) {
	path := encodePath(cty.GetAttrPath("rule").IndexInt(1).GetAttr("port"))
	got := diagnostics([]*Diagnostic{
		{Severity: Diagnostic_WARNING, Summary: "careful", Detail: "why", Attribute: path},
		{Severity: Diagnostic_ERROR, Summary: "no"},
		{Summary: "without a severity"},
	})
	if len(got) != 3 || got[0].Severity != diags.Warning || got[1].Severity != diags.Error || got[2].Severity != diags.Error {
		t.Errorf("%v", got)
	}
	if want := cty.GetAttrPath("rule").IndexInt(1).GetAttr("port"); !got[0].Attribute.Equals(want) || got[1].Attribute != nil {
		t.Errorf("paths: %v, %v", got[0].Attribute, got[1].Attribute)
	}
	set := cty.GetAttrPath("parts").Index(cty.ObjectVal(map[string]cty.Value{"a": cty.True})).GetAttr("a")
	if got := decodePath(encodePath(set)); !got.Equals(cty.GetAttrPath("parts")) {
		t.Errorf("a path into a set: %v", got)
	}
	broken := &AttributePath{Steps: append(encodePath(cty.GetAttrPath("a")).Steps, &AttributePath_Step{})}
	if got := decodePath(broken); !got.Equals(cty.GetAttrPath("a")) {
		t.Errorf("a path with a step of an unknown kind: %v", got)
	}
}

// FuzzPath: a path that can be decoded can be encoded, and decodes to the same.
func FuzzPath(f *testing.F) {
	for _, p := range []cty.Path{cty.GetAttrPath("a"), cty.GetAttrPath("b").IndexInt(7).IndexString("k"), nil} {
		buf, _ := proto.Marshal(encodePath(p))
		f.Add(buf)
	}
	f.Fuzz(func(t *testing.T, buf []byte) {
		var wire AttributePath
		if proto.Unmarshal(buf, &wire) != nil {
			return
		}
		path := decodePath(&wire)
		if again := decodePath(encodePath(path)); !again.Equals(path) {
			t.Errorf("%v becomes %v", path, again)
		}
	})
}

// TestTypes: types are parsed once.
func TestTypes(t *testing.T) {
	var types Types
	for range 2 {
		ty, err := types.Parse([]byte(`["list",["object",{"a":"string"}]]`))
		if err != nil || !ty.Equals(cty.List(cty.Object(map[string]cty.Type{"a": cty.String}))) {
			t.Errorf("%#v, %v", ty, err)
		}
	}
	if len(types.known) != 1 {
		t.Error("the type is not remembered")
	}
	_, err := types.Parse([]byte(`"strin"`))
	if diff := cmp.Diff(true, err != nil); diff != "" {
		t.Error("an unknown type is accepted")
	}
}

// encodePath is the opposite of [decodePath]. The wire has no form for elements of
// sets: the path ends at the set.
func encodePath(path cty.Path) *AttributePath {
	if len(path) == 0 {
		return nil
	}
	out := &AttributePath{}
	for _, step := range path {
		switch s := step.(type) {
		case cty.GetAttrStep:
			out.Steps = append(out.Steps, &AttributePath_Step{Selector: &AttributePath_Step_AttributeName{AttributeName: s.Name}})
		case cty.IndexStep:
			selector := encodeKey(s.Key)
			if selector == nil {
				return out
			}
			out.Steps = append(out.Steps, &AttributePath_Step{Selector: selector})
		}
	}
	return out
}

func encodeKey(key cty.Value) isAttributePath_Step_Selector {
	if !key.IsKnown() || key.IsNull() {
		return nil
	}
	switch key.Type() {
	case cty.String:
		return &AttributePath_Step_ElementKeyString{ElementKeyString: key.AsString()}
	case cty.Number:
		n, _ := key.AsBigFloat().Int64()
		return &AttributePath_Step_ElementKeyInt{ElementKeyInt: n}
	}
	return nil
}
