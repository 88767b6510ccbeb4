package report

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
)

// promised decides whether the result of an answer gets a new comment. GitHub notifies nobody of an edited
// comment. So once all replies are there, the result gets a new comment if somebody has to act on a new
// reply. A reply is new if the first comment did not show it, or showed it as pending. The decision is final.
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
		// If a handler gives up, it replaces all replies with a single one. Then fewer promised replies are
		// left (kept).
		if comment.Calls(r) && (slices.Contains(a.Promised, a.Replies[i].ID) || kept < len(a.Promised) || later) {
			a.Apart = true
		}
	}
	return a
}
