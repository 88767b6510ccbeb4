package report

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
)

// promised decides about the comments of an answer with these replies. The result is apart once all replies are
// there, if somebody has to act on one whose place was kept by a pending one, or that was not there when the comment
// was made: GitHub tells nobody of an edit. It stays so.
func promised(a ledger.Answer, replies []comment.Reply) ledger.Answer {
	a.Promised = slices.Clone(a.Promised)
	kept := 0 // promises whose reply is there still
	for i, r := range a.Replies {
		was := slices.Contains(a.Promised, r.ID)
		if was {
			kept++
		}
		if _, pending := replies[i].(comment.Pending); pending && !was {
			a.Promised = append(a.Promised, r.ID)
			kept++
		}
	}
	if comment.VerdictOn(replies) == comment.Waiting {
		if len(a.First) == 0 {
			for _, r := range a.Replies {
				a.First = append(a.First, r.ID)
			}
		}
		return a
	}
	for i, r := range replies {
		later := len(a.First) > 0 && !slices.Contains(a.First, a.Replies[i].ID)
		// Whoever gives up replaces all replies by one.
		if comment.Calls(r) && (slices.Contains(a.Promised, a.Replies[i].ID) || kept < len(a.Promised) || later) {
			a.Apart = true
		}
	}
	return a
}
