package requiredcheck

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// TestHeads is the table of testdata/heads.txt.
func TestHeads(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/heads.txt")
	if err != nil {
		t.Fatal(err)
	}
	var h Head
	var rows []string
	seen := 0
	for n, line := range strings.Split(string(data), "\n") {
		switch {
		case line == "" || strings.HasPrefix(line, "# "):
		case strings.HasPrefix(line, "= "):
			seen++
			if got := "= " + shown(h); got != line {
				t.Errorf("heads.txt:%d: %s: got %q, want %q", n+1, strings.Join(rows, "; "), got, line)
			}
			h, rows = Head{}, nil
		default:
			e, err := entry(line)
			if err != nil {
				t.Fatalf("heads.txt:%d: %v", n+1, err)
			}
			h, rows = h.With(e), append(rows, line)
		}
	}
	if seen < 60 {
		t.Errorf("there are %d rows", seen)
	}
}

// shown is the check run of a head.
func shown(h Head) string {
	w := h.Worst()
	status, conclusion := Conclude(w.Standing, w.Waiting)
	end := string(status) + string(conclusion) // GitHub refuses a conclusion before the end
	if status == github.CheckCompleted {
		end = string(conclusion)
	}
	return fmt.Sprintf("%s, %s, #%d", end, w.Standing, w.Number)
}

// entry reads a pull request of the table.
func entry(line string) (e Entry, err error) {
	number, rest, _ := strings.Cut(line, " ")
	if _, err := fmt.Sscanf(number, "#%d", &e.Number); err != nil {
		return e, fmt.Errorf("%q is no number: %w", number, err)
	}
	var f Facts
	for word := range strings.SplitSeq(rest, ", ") {
		head, is := strings.CutPrefix(word, "head ")
		base, into := strings.CutPrefix(word, "into ")
		setting, set := strings.CutPrefix(word, "check ")
		switch {
		case is:
			e.Standing = comment.HeadStanding(head)
		case word == "merged":
			e.Merged = true
		case set:
			e.Waiting = project.Waiting(setting)
		case into:
			e.Base = base
		case word == "":
		case word == "closed":
			f.Closed = true
		case word == "refused":
			f.Refused = true
		case word == "not allowed":
			f.Denied = true
		case word == "unplanned":
			f.Unplanned = true
		case word == "problem":
			f.Problem = true
		case word == "broken policies":
			f.Policies = true
		case word == "conflict":
			f.Conflict = true
		default:
			f.Projects = append(f.Projects, comment.Standing(word))
		}
	}
	if e.Standing == "" {
		e.Standing = Of(f)
	}
	return e, nil
}

// TestEveryStanding holds that each standing of a head has a conclusion and words, and each
// standing of a project one of a head.
func TestEveryStanding(t *testing.T) {
	t.Parallel()
	for _, s := range comment.HeadStandings() {
		Conclude(s, project.WaitingPasses) // a panic fails the test
		page := comment.Head{Standing: s}
		if page.Title(255) == "" || page.Summary(1000) == "" {
			t.Errorf("%q has no words", s)
		}
	}
	for _, s := range comment.Standings() {
		calm := s == comment.Superseded || s == comment.Closed
		if got := Of(Facts{Projects: []comment.Standing{s}}); (got == comment.HeadNothing) != calm {
			t.Errorf("%q makes the head %q", s, got)
		}
	}
}

// TestNobodyTurnsItGreen holds that another pull request with the same head never makes a check
// better than it is for one of them alone.
func TestNobodyTurnsItGreen(t *testing.T) {
	t.Parallel()
	good := func(e Entry) bool {
		_, c := Conclude(e.Standing, e.Waiting)
		return c == github.ConcludedSuccess || c == github.ConcludedNeutral
	}
	n := 0
	for _, a := range comment.HeadStandings() {
		for _, b := range comment.HeadStandings() {
			mine := Entry{Number: 1, Standing: a, Waiting: project.WaitingFails}
			other := Entry{Number: 2, Base: "other", Standing: b}
			for _, h := range []Head{Head{}.With(mine).With(other), Head{}.With(other).With(mine)} {
				n++
				if mine.counts() && !good(mine) && good(h.Worst()) {
					t.Errorf("%q beside %q shows %q", a, b, h.Worst().Standing)
				}
				for i, e := range h.Entries {
					h.Entries[i].Merged = e.Number == 2
				}
				if mine.counts() && h.Worst().Number != 1 {
					t.Errorf("%q beside %q of a merged one shows %q", a, b, h.Worst().Standing)
				}
			}
		}
	}
	if n < 500 {
		t.Errorf("%d pairs", n)
	}
}

// TestStandingOfAnotherVersion holds that a standing which another version has written lets nothing be merged.
func TestStandingOfAnotherVersion(t *testing.T) {
	t.Parallel()
	h := Head{[]Entry{{Number: 1, Standing: comment.HeadApplied}, {Number: 2, Standing: "reconsidered"}}}.Known()
	if w := h.Worst(); w.Number != 2 || Passes(w.Standing, w.Waiting) {
		t.Errorf("the worst is %+v", w)
	}
}
