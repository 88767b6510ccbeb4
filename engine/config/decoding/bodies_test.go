package decoding

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

var schema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "a", Required: true}, {Name: "b"}},
	Blocks:     []hcl.BlockHeaderSchema{{Type: "x"}, {Type: "y"}, {Type: "dynamic", LabelNames: []string{"type"}}},
}

// body parses a body whose arguments and blocks are separated by semicolons.
func body(t *testing.T, name, text string) hcl.Body {
	t.Helper()
	f, ds := hclsyntax.ParseConfig([]byte(strings.ReplaceAll(text, "; ", "\n")), name, hcl.InitialPos)
	if ds.HasErrors() {
		t.Fatal(text, ds)
	}
	return f.Body
}

// describe prints arguments and blocks with the files that they are from, then summaries.
func describe(b hcl.Body) string {
	content, ds := b.Content(schema)
	var out []string
	for name, a := range content.Attributes {
		out = append(out, fmt.Sprintf("%s:%s", name, a.Range.Filename))
	}
	slices.Sort(out)
	for _, x := range content.Blocks {
		out = append(out, fmt.Sprintf("%s{}:%s", x.Type, x.DefRange.Filename))
	}
	for _, d := range ds {
		out = append(out, d.Summary)
	}
	return strings.Join(out, " ")
}

func TestOverridden(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ base, over, want string }{
		{"a = 1; b = 2", "b = 3", "a:base b:over"},
		{"a = 1", "", "a:base"},
		{"b = 1", "b = 2", "b:over Missing required argument"},
		{"a = 1; x {}; y {}; x {}", "x {}", "a:base y{}:base x{}:over"},
		{"a = 1; x {}; dynamic \"x\" {}", "x {}", "a:base x{}:over"},
		{"a = 1; x {}", "dynamic \"x\" {}", "a:base dynamic{}:over"},
		{"a = 1", "c = 1", "a:base Unsupported argument"},
	} {
		if got := describe(overriddenBody(body(t, "base", test.base), body(t, "over", test.over))); got != test.want {
			t.Errorf("%q by %q: got %s, want %s", test.base, test.over, got, test.want)
		}
	}
}

func TestEscaped(t *testing.T) {
	t.Parallel()
	both := escapedBody(body(t, "outer", "a = 1; x {}"), body(t, "inner", "b = 2; y {}"))
	if got, want := describe(both), "a:outer b:inner x{}:outer y{}:inner"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if isEmptyBody(both) || !isEmptyBody(body(t, "empty", "")) {
		t.Error("IsEmpty")
	}
}
