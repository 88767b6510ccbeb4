package simulation

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// answers holds that each command is answered once, and that a result that somebody has to act on did not take the
// place of a promise: it is a comment of its own, one, and the answer points to it. Who gives a message up does so beside the
// others about the pull request: both may write that comment at once, of which the next one who writes it deletes one.
func (s *simulation) answers() {
	for _, c := range s.commands {
		name := strconv.FormatInt(c.id, 10)
		answers, results := s.marked(c.number, comment.AnswerMarker(name)), s.marked(c.number, comment.ResultMarker(name))
		if c.early && s.moved > 0 && len(answers) == 0 {
			continue
		}
		if s.buried[c.number] && len(answers) > 0 && max(len(answers), len(results)) == 2 && len(answers)+len(results) <= 3 {
			continue
		}
		if len(answers) != 1 || len(results) > 1 {
			s.bug("%q on #%d is answered %d times, with %d results", c.text, c.number, len(answers), len(results))
			continue
		}
		answer := answers[0].Body
		if strings.Contains(answer, "the result will be here") {
			s.bug("the answer to %q on #%d is never completed:\n%s", c.text, c.number, answer)
		}
		if len(results) == 1 {
			pointer := fmt.Sprintf("(#issuecomment-%d)", results[0].ID)
			if !strings.Contains(answer, pointer) || strings.Contains(results[0].Body, "the result will be here") {
				s.bug("the answer to %q on #%d and its result:\n%s\n%s", c.text, c.number, answer, results[0].Body)
			}
			continue
		}
		s.told(c, answers[0])
	}
}

// told holds that what somebody has to act on is not an edit of a promise.
func (s *simulation) told(c command, answer githubtest.Comment) {
	for _, e := range s.Hub.Edits() {
		if e.Comment != answer.ID || e.Kind != "comment" && e.Kind != "edit" || !strings.Contains(e.Text, "the result will be here") {
			continue
		}
		for _, bad := range []string{"**The apply of ", "**Not planned**: ", "**Not applied**: ", "**Another plan** for ", "**Lockstep could not do this**"} {
			if strings.Contains(answer.Body, bad) && !strings.Contains(e.Text, bad) {
				s.bug("the answer to %q on #%d is an edit, which nobody is told of:\n%s", c.text, c.number, answer.Body)
				return
			}
		}
	}
}

// marked are our comments that begin with a marker.
func (s *simulation) marked(number int, marker string) []githubtest.Comment {
	var out []githubtest.Comment
	for _, x := range s.repo.Comments(number) {
		if x.Author == "lockstep[bot]" && strings.HasPrefix(x.Body, marker) {
			out = append(out, x)
		}
	}
	return out
}
