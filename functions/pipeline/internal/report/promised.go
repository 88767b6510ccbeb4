package report

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
)

// promised decides about the comments of an answer with these replies. Once all replies are there, the result
// becomes a comment of its own if somebody has to act on one of them. The reply was pending when the first
// comment was written, or was not there yet. GitHub notifies nobody of an edit. The decision is final.
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
		// A handler that gives up replaces all replies by one.
		if comment.Calls(r) && (slices.Contains(a.Promised, a.Replies[i].ID) || kept < len(a.Promised) || later) {
			a.Apart = true
		}
	}
	return a
}
