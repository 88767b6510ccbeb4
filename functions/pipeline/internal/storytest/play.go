package storytest

import (
	"embed"
	"runtime/debug"
	"strings"
	"testing"
)

//go:embed testdata
var told embed.FS

// Tests that play stories have garbage collected seldom: a story is small, and is garbage at its end.
func init() { debug.SetGCPercent(400) }

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
