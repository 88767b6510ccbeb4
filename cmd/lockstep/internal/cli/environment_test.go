package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWords(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string // the last one begins with "!" if that is the error
	}{
		{``, nil},
		{`  `, nil},
		{`-no-color`, []string{"-no-color"}},
		{" -a  -b\t-c\n", []string{"-a", "-b", "-c"}},
		{`-var 'name=two words'`, []string{"-var", "name=two words"}},
		{`-var="name=it's"`, []string{"-var=name=it's"}},
		{`-target='module.a["x"]'`, []string{`-target=module.a["x"]`}},
		{`-target=module.a[\"x\"]`, []string{`-target=module.a["x"]`}},
		{`"a \"b\" \$c \d"`, []string{`a "b" $c \d`}},
		{`'a\b'`, []string{`a\b`}},
		{`two\ words`, []string{"two words"}},
		{`'' ""`, []string{"", ""}},
		{`a''b`, []string{"ab"}},
		{"a\\\nb", []string{"ab"}},
		{`$HOME * ; | > x`, []string{"$HOME", "*", ";", "|", ">", "x"}},
		{`-var 'open`, []string{"!a quotation mark (') is not closed"}},
		{`"open`, []string{`!a quotation mark (") is not closed`}},
		{`end\`, []string{"!a backslash is at the end"}},
	} {
		got, err := words(c.text)
		if err != nil {
			got = []string{"!" + err.Error()}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("words(%q): %s", c.text, diff)
		}
	}
}

// FuzzWords: whatever words are, in single quotes they are one word again.
func FuzzWords(f *testing.F) {
	f.Add(`-var 'a b' "c\"d" e\ f`)
	f.Fuzz(func(t *testing.T, text string) {
		found, err := words(text)
		if err != nil {
			return
		}
		var quoted []string
		for _, w := range found {
			quoted = append(quoted, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
		}
		again, err := words(strings.Join(quoted, " "))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(found, again); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	})
}

// The options of one command come before those of all, and what is typed comes last.
func TestArgumentsFromEnvironment(t *testing.T) {
	a := New(context.Background(), Streams{}, []string{"TF_CLI_ARGS=-no-color", "TF_CLI_ARGS_state_mv=-lock=false 'x y'", "TF_CLI_ARGS_plan=-x"})
	got, err := a.withEnvironment("state mv", []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"-lock=false", "x y", "-no-color", "a", "b"}, got); diff != "" {
		t.Error(diff)
	}
}
