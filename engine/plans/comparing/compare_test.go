package comparing

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A scenario is one case of a table: two plans, and their differences.
type scenario struct{ title, approved, now, want string }

// scenarios reads a table.
func scenarios(t *testing.T, file string) []scenario {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []scenario
	var into *string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		title, begins := strings.CutPrefix(line, "== ")
		switch {
		case begins:
			out = append(out, scenario{title: title})
		case line == "" || strings.HasPrefix(line, "#"):
		case line == "approved":
			into = &out[len(out)-1].approved
		case line == "now":
			into = &out[len(out)-1].now
		case line == "want":
			into = &out[len(out)-1].want
		default:
			*into += strings.TrimPrefix(line, "  ") + "\n"
		}
	}
	return out
}

// differing returns the differences of two plans as text.
func differing(t *testing.T, approved, now string) string {
	t.Helper()
	a, err := parsePlan(approved)
	if err != nil {
		t.Fatal(err)
	}
	b, err := parsePlan(now)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, d := range Compare(a, b) {
		got += text(d) + "\n"
	}
	if got == "" {
		return "equal\n"
	}
	return got
}

// TestCompare plays the table.
func TestCompare(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios(t, "testdata/plans.txt") {
		t.Run(s.title, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(s.want, differing(t, s.approved, s.now)); diff != "" {
				t.Error(diff)
			}
			for _, plan := range []string{s.approved, s.now} {
				if got := differing(t, plan, plan); got != "equal\n" && !strings.Contains(plan, "errored") {
					t.Errorf("a plan differs from itself: %s\n%s", got, plan)
				}
			}
		})
	}
}
