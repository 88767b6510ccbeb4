package jsonvalues_test

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/jsonvalues"
)

func TestSameText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"a":[1,"x y"]}`, "{\n  \"a\": [\n    1,\n\t\"x y\"\r\n  ]\n}\n", true},
		{`"x y"`, `"x  y"`, false},
		{`"x\" y"`, `"x\"  y"`, false},
		{`"x\\" `, ` "x\\"`, true},
		{`{"a":1}`, `{"a":1.0}`, false},
		{`"<"`, "\"\\u003c\"", false},
		{`[1]`, `[1`, false},
		{``, ` `, true},
		{`"\`, `"\`, true},
	} {
		if got := jsonvalues.SameText([]byte(c.a), []byte(c.b)); got != c.want || jsonvalues.SameText([]byte(c.b), []byte(c.a)) != c.want {
			t.Errorf("%s and %s: %t", c.a, c.b, got)
		}
	}
}

// TestEqualDynamicValues reads objects in which dynamic values have the same text, or the same text
// with another type.
func TestEqualDynamicValues(t *testing.T) {
	t.Parallel()
	ty := cty.Object(map[string]cty.Type{"a": cty.DynamicPseudoType, "b": cty.DynamicPseudoType, "c": cty.DynamicPseudoType})
	src := `{"a":{"value":["1"],"type":["list","string"]},"b":{"value":["1"],"type":["list","string"]},"c":{"value":["1"],"type":["set","string"]}}`
	list, set := cty.ListVal([]cty.Value{cty.StringVal("1")}), cty.SetVal([]cty.Value{cty.StringVal("1")})
	want := cty.ObjectVal(map[string]cty.Value{"a": list, "b": list, "c": set})
	if got, err := jsonvalues.Parse([]byte(src), ty); err != nil || !got.RawEquals(want) {
		t.Errorf("%#v, %v", got, err)
	}
}
