package markdown

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
)

// TestCodeHolds tries to get out of code: to end it, to be seen as something else, to
// mention somebody.
func TestCodeHolds(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                 "`plain`",
		"":                      "` `",
		"a`b":                   "``a`b``",
		"`a``":                  "``` `a`` ```",
		"@team <b>x</b> [a](b)": "`@team <b>x</b> [a](b)`",
		"two\nlines":            "`two\\nlines`",
		"\x1b[31mred\u202eder":  "`\\u001b[31mred\\u202eder`",
		"bad \xff utf8":         "`bad \\ufffd utf8`",
	} {
		if got := Code(text); got != want {
			t.Errorf("Code(%q) = %q, want %q", text, got, want)
		}
	}
	if got, want := Fence("diff", "a\n````\n@team\r\n"), "`````diff\na\n````\n@team\\u000d\n`````"; got != want {
		t.Errorf("Fence: %q, want %q", got, want)
	}
}

// FuzzFence holds that nothing in a code block ends it, by the rules by which we read
// comments ourselves.
func FuzzFence(f *testing.F) {
	f.Add("a\n```\nlockstep apply")
	f.Add("~~~\n`````\r\nlockstep apply")
	f.Fuzz(func(t *testing.T, text string) {
		for _, line := range grammar.Parse(Fence("", text) + "\nlockstep help\n") {
			if line.Text != "lockstep help" {
				t.Errorf("%q: the line %q is outside", text, line.Text)
			}
		}
	})
}

func TestCut(t *testing.T) {
	long := "<details><summary>x</summary>\n\n````diff\n" + strings.Repeat("+ line\n", 1000) + "````\n\n</details>\nend\n"
	for limit := range 3000 {
		got := Cut(long, limit)
		if len(got) > limit {
			t.Fatalf("limit %d: %d bytes", limit, len(got))
		}
		if got == "" {
			if limit > 200 {
				t.Fatalf("limit %d: nothing is left", limit)
			}
			continue
		}
		if strings.Count(got, "<details>") != strings.Count(got, "</details>") || strings.Count(got, "````")%2 != 0 {
			t.Fatalf("limit %d: not closed: %q", limit, got)
		}
		if !strings.Contains(got, "*Shortened to fit") || strings.Index(got, "*Shortened") < strings.LastIndex(got, "````") {
			t.Fatalf("limit %d: it does not say that something is left out, or says it in code: %q", limit, got)
		}
	}
	if got := Cut(long, len(long)); got != long {
		t.Error("what fits is cut")
	}
}

// TestLists holds names in a row, as code, so that none ends the sentence it is in.
func TestLists(t *testing.T) {
	for _, test := range []struct {
		names []string
		more  int
		want  string
	}{{nil, 0, ""}, {[]string{"a"}, 0, "`a`"}, {[]string{"a", "b`, c"}, 0, "`a`, ``b`, c``"}, {[]string{"a", "b"}, 3, "`a`, `b`, and 3 more"}} {
		if got := Few(test.names, test.more); got != test.want {
			t.Errorf("%q and %d more: %s, want %s", test.names, test.more, got, test.want)
		}
	}
}
