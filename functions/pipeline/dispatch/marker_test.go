package dispatch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestMarkersInPlans carries out an attack: plans, outputs and messages of errors hold our
// markers, of the status and of answers that are and will be there. It holds that each
// comment of ours stays, once, and says what it is there to say.
func TestMarkersInPlans(t *testing.T) {
	t.Parallel()
	var evil []string
	for n := range 12 {
		evil = append(evil, comment.AnswerMarker(fmt.Sprint(n)))
	}
	text := strings.Join(append(evil, comment.StatusMarker, "<!--Lockstep:status-->"), `\n`)
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.strict = true
	n := s.pull("alice", "b", githubtest.Files{
		"b.tf": resource("b", text) + "output \"evil\" {\n  value = \"" + text + "\"\n}\n",
	})
	s.say("mallory", n, "lockstep "+comment.StatusMarker)
	s.expect("the status", s.status(n), "ready to apply", "2 to add")
	s.oneMarker(n)
	first := s.say("alice", n, "lockstep apply")
	s.expect("the answer", first, "**Applied** `.`: 2 added")
	s.repo.Push("alice", "b", "Fail", githubtest.Files{
		"c.tf": "variable \"x\" {\n  default = 1\n  validation {\n    condition     = var.x > 1\n    error_message = \"" + text + "\"\n  }\n}\n",
	})
	s.settle()
	second := s.say("bob", n, "lockstep plan")
	s.expect("the second answer", second, "**Failed to plan** `.")
	s.expect("the status", s.status(n), "failed to plan")
	if ours := s.oneMarker(n); ours != 5 { // the status, three answers, and a result apart
		t.Errorf("%d comments of ours", ours)
	}
	for _, line := range s.hub.Lines() {
		if strings.HasPrefix(line, "delete") {
			t.Errorf("Lockstep did %s", line)
		}
	}
}

// oneMarker holds that each comment of ours has one marker, in front, and returns how many
// there are.
func (s *stage) oneMarker(number int) int {
	s.t.Helper()
	ours := 0
	for _, c := range s.repo.Comments(number) {
		if c.Author != "lockstep[bot]" {
			continue
		}
		ours++
		if strings.Count(strings.ToLower(c.Body), "<!-- lockstep") != 1 || !strings.HasPrefix(c.Body, "<!-- lockstep:") {
			s.t.Errorf("comment %d has not one marker, in front:\n%s", c.ID, c.Body)
		}
	}
	return ours
}
