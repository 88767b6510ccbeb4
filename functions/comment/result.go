package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// ResultMarker returns the hidden marker of a comment with a result. Such a comment is posted in addition to the
// answer, which only shows progress. By the marker, Lockstep finds the comment again.
func ResultMarker(name string) string { return fmt.Sprintf("<!-- lockstep:result %s -->", name) }

// Calls reports whether somebody has to act on a reply. Such a reply gets a new comment instead of replacing a
// pending one, because GitHub notifies nobody of an edited comment.
func Calls(r Reply) bool {
	switch r := r.(type) {
	case Refused: // nobody has to act if there was nothing to do, or if a person has stopped the work
		return slices.ContainsFunc(r.Reasons, func(why reasons.Reason) bool {
			switch why.(type) {
			case reasons.NothingToDo, reasons.WasStopped:
				return false
			}
			return true
		})
	case Failed, PlanRenewal, QueuedPlan, Broken:
		return true
	}
	return false
}

// Result returns the separate comment with the result of an answer, of at most limit bytes. asked is the ID of
// the comment with the command; 0 if there is none.
func (a Answer) Result(asked int64, limit int) string {
	marker := ResultMarker(a.Name) + "\n"
	head := ""
	if asked != 0 {
		head = fmt.Sprintf("Result of [this command](#issuecomment-%d):\n\n", asked)
	}
	return marker + markdown.Cut(head+a.body(), limit-len(marker))
}

// Pointer returns the text of an answer whose result is in another comment: a link to that comment. result is
// the ID of the comment with the result.
func (a Answer) Pointer(result int64) string {
	return fmt.Sprintf("%s\n**Not everything was done.** [See the result](#issuecomment-%d).\n", AnswerMarker(a.Name), result)
}

// body returns the texts of the replies, in Markdown.
func (a Answer) body() string {
	var parts []string
	for _, text := range bodies(a.Replies) {
		parts = append(parts, strings.TrimSpace(text))
	}
	return strings.Join(parts, "\n\n") + "\n"
}
