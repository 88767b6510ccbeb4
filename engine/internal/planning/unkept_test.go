package planning

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// TestRepeated names the arguments, and the elements of maps, that a plan gives the value that the state has.
func TestRepeated(t *testing.T) {
	t.Parallel()
	tags := cty.Map(cty.String)
	rs := &schema.Schema{Block: &schema.Block{
		Attributes: map[string]*schema.Attribute{
			"id": {Type: cty.String, Computed: true}, "limit": {Type: cty.Number, Optional: true},
			"tags": {Type: tags, Optional: true}, "auto": {Type: cty.String, Optional: true, Computed: true},
		},
		Blocks: map[string]*schema.NestedBlock{},
	}}
	object := func(limit, tags, auto cty.Value) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("i"), "limit": limit, "tags": tags, "auto": auto})
	}
	number, none, text := cty.NumberIntVal, cty.NullVal(cty.Number), cty.StringVal
	m := func(kv ...string) cty.Value {
		vals := map[string]cty.Value{}
		for i := 0; i < len(kv); i += 2 {
			vals[kv[i]] = text(kv[i+1])
		}
		if len(vals) == 0 {
			return cty.MapValEmpty(cty.String)
		}
		return cty.MapVal(vals)
	}
	x := text("x")
	secret := m("k", "v").Mark(marks.Sensitive)
	for name, c := range map[string]struct {
		stored, read, planned cty.Value
		want                  []string
	}{
		"nothing":                       {object(none, m(), x), object(none, m(), x), object(none, m(), x), nil},
		"filled in":                     {object(none, m(), x), object(number(1), m(), x), object(none, m(), x), []string{"limit"}},
		"lost":                          {object(number(1), m(), x), object(none, m(), x), object(number(1), m(), x), []string{"limit"}},
		"the configuration has another": {object(number(1), m(), x), object(number(2), m(), x), object(number(3), m(), x), nil},
		"accepted":                      {object(number(1), m(), x), object(number(2), m(), x), object(number(2), m(), x), nil},
		"only the configuration":        {object(number(1), m(), x), object(number(1), m(), x), object(number(2), m(), x), nil},
		"unknown":                       {object(none, m(), x), object(none, m(), text("y")), object(none, m(), cty.UnknownVal(cty.String)), nil},
		"optional and computed":         {object(none, m(), x), object(none, m(), text("y")), object(none, m(), x), []string{"auto"}},
		"element lost":                  {object(none, m("a", "1", "b", "2"), x), object(none, m("a", "1"), x), object(none, m("a", "1", "b", "2"), x), []string{`tags["b"]`}},
		"element added":                 {object(none, m("a", "1"), x), object(none, m("a", "1", `b"`, "2"), x), object(none, m("a", "1"), x), []string{`tags["b\""]`}},
		"element beside a change":       {object(none, m("a", "1", "b", "2"), x), object(none, m("a", "3", "b", "2"), x), object(none, m("a", "1", "b", "4"), x), []string{`tags["a"]`}},
		"map lost":                      {object(none, m("a", "1"), x), object(none, cty.NullVal(tags), x), object(none, m("a", "1"), x), []string{"tags"}},
		"secret keys":                   {object(none, secret, x), object(none, m().Mark(marks.Sensitive), x), object(none, secret, x), []string{"tags"}},
		"sensitive object": {object(number(1), m(), x).Mark(marks.Sensitive), object(none, m(), x).Mark(marks.Sensitive),
			object(number(1), m(), x).Mark(marks.Sensitive), []string{"limit"}},
	} {
		if diff := cmp.Diff(c.want, repeated(rs, c.stored, c.read, c.planned)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}
