package storytest

import (
	"embed"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

//go:embed testdata
var told embed.FS

// Garbage is collected seldom: a story is small, and is garbage at its end.
func init() {
	debug.SetGCPercent(400)
}

// TestStories plays all stories.
func TestStories(t *testing.T) {
	for _, name := range []string{"plans", "applies", "commands", "sealing", "shadow", "webhooks", "rounds", "waves", "outputs", "tests", "queries", "drift"} {
		file := "testdata/" + name + ".stories"
		text, err := told.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		stories := strings.Split(strings.TrimSpace(string(text)), "\n\n")
		// The stories of a file run one after the other: they take milliseconds.
		for i, paragraph := range stories {
			title, steps, want := read(paragraph)
			if title == "" {
				continue
			}
			t.Run(name+"/"+title, func(t *testing.T) {
				got := tell(t, steps)
				if golden.Updating() {
					stories[i] = strings.Join(append(kept(paragraph), got...), "\n")
				} else if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got, -update writes it anew)\n%s", diff)
				}
			})
		}
		golden.Update(t, file, strings.Join(stories, "\n\n")+"\n")
	}
}

// kept returns the lines of a story without its trace.
func kept(paragraph string) []string {
	return slices.DeleteFunc(strings.Split(paragraph, "\n"), func(l string) bool { return strings.HasPrefix(l, traced) })
}

const traced = "  ="

// read splits a story into its name, its steps, and the lines of its trace.
func read(paragraph string) (name string, steps, want []string) {
	for line := range strings.SplitSeq(paragraph, "\n") {
		switch {
		case strings.HasPrefix(line, traced):
			want = append(want, line)
		case strings.HasPrefix(line, "#"), strings.HasPrefix(line, "  #"):
		case strings.HasPrefix(line, " "):
			steps = append(steps, strings.TrimSpace(line))
		default:
			name = line
		}
	}
	return name, steps, want
}

// tell plays a story, and returns its trace.
func tell(t *testing.T, steps []string) []string {
	t.Helper()
	s := newStage(t)
	for _, line := range steps {
		verb, rest, _ := strings.Cut(line, " ")
		verb, hidden := strings.CutPrefix(verb, "~")
		s.w.quiet = hidden
		s.step(verb, strings.TrimSpace(rest))
	}
	s.tidy()
	for _, f := range s.w.faults {
		t.Errorf("nothing came to %s %s", f.kind, f.call)
	}
	for _, r := range s.engine.rules {
		t.Errorf("the engine was not asked to %s %s, which was to be %s", r.call, r.project, r.word)
	}
	var out []string
	for _, line := range s.w.lines {
		out = append(out, strings.TrimRight(traced+" "+line, " "))
	}
	return out
}
