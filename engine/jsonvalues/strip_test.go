package jsonvalues_test

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/jsonvalues"
)

// What a type does not have goes, at any depth; all else stays byte for byte if nothing goes.
func TestStripJSON(t *testing.T) {
	t.Parallel()
	inner := cty.Object(map[string]cty.Type{"x": cty.String})
	codec := jsonvalues.NewCodec(cty.Object(map[string]cty.Type{
		"a": cty.String, "n": cty.Number, "any": cty.DynamicPseudoType, "tags": cty.Map(cty.String),
		"one": inner, "list": cty.List(inner), "set": cty.Set(inner), "map": cty.Map(inner), "pair": cty.Tuple([]cty.Type{inner, cty.String}),
	}))
	for _, c := range []struct{ src, want string }{
		{`{"a": "1", "n": 1.50, "tags": {"gone": "no"}}`, ""},
		{`{"n":12345678901234567890.5,"a":null,"gone":1}`, `{"a":null,"n":12345678901234567890.5}`},
		{`{"gone":{"a":[1,{"b":"}"}]},"a":"x\"y<z"}`, `{"a":"x\"y\u003cz"}`},
		{`{"one":{"x":"1","gone":2}}`, `{"one":{"x":"1"}}`},
		{`{"one":null,"list":null,"map":null}`, ""},
		{`{"list":[{"x":"1"},{"y":"2"}]}`, `{"list":[{"x":"1"},{}]}`},
		{`{"set":[{"x":"1"}, {"x":"2"}],"list":[],"map":{}}`, ""},
		{`{"map":{"x":{"x":"1"},"gone":{"gone":1}}}`, `{"map":{"gone":{},"x":{"x":"1"}}}`},
		{`{"pair":[{"x":"1"},"s"]}`, ""},
		{`{"pair":[{"y":"1"},"s"]}`, `{"pair":[{},"s"]}`},
		{`{"any":{"value":{"gone":1},"type":["object",{"gone":"number"}]}}`, ""},
		{`{"gone":1`, ""},
		{``, ""},
		{`[1]`, ""},
	} {
		want := c.want
		if want == "" {
			want = c.src
		}
		if got := string(codec.Strip([]byte(c.src))); got != want {
			t.Errorf("%s\nis   %s\nwant %s", c.src, got, want)
		}
	}
}
