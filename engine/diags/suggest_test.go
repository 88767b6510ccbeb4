package diags

import (
	"slices"
	"testing"
)

func TestSuggest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		names []string
		want  string
	}{
		{"colour", []string{"size", "color"}, ` Did you mean "color"?`},
		{"nam", []string{"names", "name"}, ` Did you mean "name"?`},
		{"ab", []string{"ac", "aa"}, ` Did you mean "aa"?`}, // of equals the first by name
		{"something", []string{"other"}, ""},
		{"x", nil, ""},
	} {
		if got := Suggest(c.name, slices.Values(c.names)); got != c.want {
			t.Errorf("%s of %q: %q, want %q", c.name, c.names, got, c.want)
		}
	}
}

func TestWithoutType(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`Inappropriate value for attribute "a": string required, but have tuple.`: `Inappropriate value for attribute "a": string required.`,
		`Rules need names, but have none.`:                                        `Rules need names, but have none.`,
		`string required, but have tuple`:                                         `string required, but have tuple`,
	} {
		if got := WithoutType(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
