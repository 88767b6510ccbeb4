package report

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
)

// promised decides about the comments of an answer with these replies. The result is apart once all replies are
// there, if somebody has to act on one whose place was kept by a pending one. It stays so.
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
		return a
	}
	for i, r := range replies {
		// Whoever gives up replaces all replies by one.
		if comment.Calls(r) && (slices.Contains(a.Promised, a.Replies[i].ID) || kept < len(a.Promised)) {
			a.Apart = true
		}
	}
	return a
}
