package demo

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/localpipeline"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestMain runs the tests, or a worker that a story has started.
func TestMain(m *testing.M) {
	localpipeline.Main()
	Main()
	changeTime = time.Second // a slow machine must not miss the apply in progress
	os.Exit(m.Run())
}

func TestStories(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, s := range Stories() {
		if names[s.Name] || s.Shows == "" || len(s.scenes) == 0 {
			t.Errorf("%q shows %q in %d scenes", s.Name, s.Shows, len(s.scenes))
		}
		names[s.Name] = true
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			teller := &Teller{Out: &out}
			if err := teller.Tell(t.Context(), s, Options{Dir: t.TempDir(), Version: "test"}); err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			at := strings.Index(out.String(), s.Shows)
			for _, x := range s.scenes {
				i := strings.Index(out.String()[max(at, 0):], x.title)
				if at < 0 || i < 0 {
					t.Fatalf("%q is not told in its place:\n%s", x.title, out.String())
				}
				at += i
			}
			for _, markup := range []string{"<details", "<!--", "<br", "**"} {
				if strings.Contains(out.String(), markup) {
					t.Errorf("markup is left: %s\n%s", markup, out.String())
				}
			}
		})
	}
}

// A story that goes otherwise says in which scene, and what was missing.
func TestStoryGoesWrong(t *testing.T) {
	t.Parallel()
	s := Story{Name: "wrong", Shows: "Nothing.", scenes: []scene{
		opened("alice opens a pull request", "alice", "subnets", "Two subnets", subnets, "3 to add"),
		{title: "she pushes what cannot be read", want: []string{"7 to add", "Unclosed"}, never: []string{"planned"},
			do: by(func(r *githubtest.Repository) {
				r.Push("alice", "subnets", "Broken", githubtest.Files{"network/subnets.tf": "resource {\n"})
			})},
	}}
	err := (&Teller{Out: new(bytes.Buffer)}).Tell(t.Context(), s, Options{Dir: t.TempDir()})
	var missing *missingError
	if !errors.As(err, &missing) {
		t.Fatalf("%v", err)
	}
	if missing.Story != "wrong" || missing.Scene != "she pushes what cannot be read" || missing.Problems[0] != `nothing was said of "7 to add"` {
		t.Errorf("%+v", missing)
	}
}

func TestSceneCheck(t *testing.T) {
	t.Parallel()
	x := scene{want: []string{"added", "check lockstep/network: success"}, never: []string{"failed", "refused"}}
	got := x.check([]string{"**Applied**: 3 added", "it was refused"})
	want := []string{`nothing was said of "check lockstep/network: success"`, `"refused" was said`}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestPlainText(t *testing.T) {
	t.Parallel()
	const markdown = "<!-- lockstep:status -->\n### Plan for `x`: 1 to add\n\n| project | plan |\n|---|---|\n| `a` | 1 to add |\n\n<details><summary>Changes</summary>\n\n```diff\n+ <b>**\n# one\n```\n\n</details>\n\n\n#8 is **not** merged &amp; open.\n"
	const want = "Plan for `x`: 1 to add\n\nproject   plan\n`a`   1 to add\n\nChanges\n\n+ <b>**\n# one\n\n#8 is not merged & open.\n"
	if d := cmp.Diff(want, plainText(markdown)); d != "" {
		t.Error(d)
	}
}

// A reader sees where lines are missing, so that nobody takes the rest for all.
func TestQuoted(t *testing.T) {
	t.Parallel()
	got := quoted("one\ntwo\nthree\nfour\nfive\n\nsix\nseven", 2, func(line string) bool { return line == "five" || line == "seven" })
	const want = "   │ one\n   │ two\n   │ ⋮ (2 lines)\n   │ five\n   │ ⋮ (1 line)\n   │ seven\n"
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
