package schematest_test

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/internal/schematest"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

func TestParse(t *testing.T) {
	b := schematest.Block(t, `
		id   string computed          # a comment
		tags map(list(number)) optional sensitive deprecated
		spec set required {
			wo string optional wo
		}
		disk block list 1..2 {
		}
	`)
	if a := b.Attributes["tags"]; !a.Optional || !a.Sensitive || !a.Deprecated || a.Required || a.Computed || a.WriteOnly ||
		!a.Type.Equals(cty.Map(cty.List(cty.Number))) {
		t.Errorf("tags is %+v", a)
	}
	if a := b.Attributes["spec"]; !a.Required || a.Nested.Nesting != schema.NestingSet || !a.Nested.Attributes["wo"].WriteOnly {
		t.Errorf("spec is %+v", a)
	}
	if n := b.Blocks["disk"]; n.Nesting != schema.NestingList || n.MinItems != 1 || n.MaxItems != 2 {
		t.Errorf("disk is %+v", n)
	}
	if len(b.Attributes) != 3 || len(b.Blocks) != 1 {
		t.Errorf("%d attributes, %d blocks", len(b.Attributes), len(b.Blocks))
	}
}

func TestParseRefuses(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"}", "a } too many"},
		{"b block list {", "a } too few"},
		{"a strang optional", "line 1"},
		{"a list( optional", "line 1"},
		{"a string optional\nb block {\n}", "line 2: want `name block NESTING [MIN..MAX] {`"},
		{"b block heap {\n}", "want `name block"},
		{"b block list 1 {\n}", "want MIN..MAX rather than 1"},
		{"b block list {\n a strang\n}", "line 2"},
	} {
		if _, err := schematest.Parse(test.text); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error %v, want %q", test.text, err, test.want)
		}
	}
}

func TestValueAndText(t *testing.T) {
	b := schematest.Block(t, "a string required\nn number optional\nany any optional\no single optional {\n x string required\n}\nl block list {\n b bool optional\n}\nm block map {\n b bool optional\n}")
	for _, text := range []string{
		"null",
		"{}",
		`{a = "x", n = 5}`,
		`{a = unknown, any = ["x", {"y" = null}]}`,
		`{a = sensitive("x"), n = ephemeral(5)}`,
		`{a = sensitive(null), o = {x = "1"}, l = [{}, {b = true}], m = {"k" = {}}}`,
		`{o = null, l = null, m = unknown}`,
	} {
		want := strings.Replace(text, "o = null, ", "", 1) // what is null is left out
		if got := schematest.Text(b, schematest.Value(t, b, text)); got != want {
			t.Errorf("%s is printed as %s", text, got)
		}
	}
	for _, text := range []string{"{", "{b = 1}", "{a = nothing}", "5"} {
		if v, err := schematest.ParseValue(b, text); err == nil {
			t.Errorf("%s is read as %#v", text, v)
		}
	}
}
