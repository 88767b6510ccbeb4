package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// ResultMarker returns the hidden marker of a separate comment with the result of an answer. (The answer itself
// then shows only progress.) Lockstep later finds the comment by the marker.
func ResultMarker(name string) string { return fmt.Sprintf("<!-- lockstep:result %s -->", name) }

// Calls reports whether a person has to act because of the reply. Such a reply is posted as a new comment,
// rather than by editing the comment with the pending reply, because GitHub notifies nobody of an edit.
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

// Result returns the text of a separate comment with the result of an answer, of at most limit bytes. asked is
// the ID of the comment with the command; 0 if there is none.
func (a Answer) Result(asked int64, limit int) string {
	marker := ResultMarker(a.Name) + "\n"
	head := ""
	if asked != 0 {
		head = fmt.Sprintf("Result of [this command](#issuecomment-%d):\n\n", asked)
	}
	return marker + markdown.Cut(head+a.body(), limit-len(marker))
}

// Pointer returns the text of an answer whose result is a separate comment: a link to that comment. result is
// the comment's ID.
func (a Answer) Pointer(result int64) string {
	return fmt.Sprintf("%s\n**Not everything was done.** [See the result](#issuecomment-%d).\n", AnswerMarker(a.Name), result)
}

// body returns the texts of all replies in the answer, in Markdown.
func (a Answer) body() string {
	var parts []string
	for _, text := range bodies(a.Replies) {
		parts = append(parts, strings.TrimSpace(text))
	}
	return strings.Join(parts, "\n\n") + "\n"
}
