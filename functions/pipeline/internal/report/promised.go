package report

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
)

// promised decides whether the result of an answer gets a new comment, because GitHub notifies nobody of an
// edit. When all replies exist, it gets one if a person has to act because of a new reply. A reply is new if
// the first comment did not show it, or showed it as pending. The decision is final.
func promised(a ledger.Answer, replies []comment.Reply) ledger.Answer {
	a.Promised = slices.Clone(a.Promised)
	kept := 0 // pending replies that still have their place
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
		// A handler that gives up replaces all replies by a single one. Fewer of the promised replies are then
		// left (kept).
		if comment.Calls(r) && (slices.Contains(a.Promised, a.Replies[i].ID) || kept < len(a.Promised) || later) {
			a.Apart = true
		}
	}
	return a
}
