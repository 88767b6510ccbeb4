package runstatus

import (
	"cmp"
	"context"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/requiredcheck"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A Look is the last look at the head of a pull request. It is zero if there was none.
type Look = ledger.Look

// DecodeLook decodes the record of a look.
func DecodeLook(rec pipeline.Record) (Look, error) { return ledger.DecodeLook(rec) }

// LastLook returns the last look at a pull request.
func LastLook(ctx context.Context, records pipeline.Records, p pipeline.Pull) (Look, error) {
	return ledger.Ledger{Records: records}.LastLook(ctx, p)
}

// HeadOf returns the commit that was the head at the last look, or at the last failed attempt to look. It
// returns "" if that commit is not known.
func HeadOf(l Look) string { return cmp.Or(l.GivenUp, l.Head) }

// Former reports whether a run belongs to another commit than head, the present head of its pull request. head
// is "" if it is unknown.
func Former(r runs.Run, head string) bool { return head != "" && r.Spec.Head != head }

// Head returns the content of the head's check if it is about the pull request as a whole, such as a conflict.
// ok is false if the check shows only the states of the projects.
func Head(l Look, all []runs.Run) (h comment.Head, ok bool) {
	h.Status = comment.Status{
		Head: HeadOf(l), Notes: l.Notes, Conflict: l.Conflict, Problem: cmp.Or(l.Problem, l.Refused), Removed: l.Removed,
		Merged: l.Merged, Closed: l.Closed && !l.Merged,
	}
	if !l.Closed {
		h.Policies = l.Policies
	}
	switch {
	case l.Closed && l.Head == "":
		h.Standing = comment.HeadClosed
	case l.GivenUp != "" && !l.Closed:
		h.Standing = comment.HeadGivenUp
	case l.Head == "":
		h.Standing = comment.HeadAwaited
	default:
		f := facts(l, all)
		if h.Standing = requiredcheck.Of(f); f.Unplanned {
			h.Problem = cmp.Or(h.Problem, l.Denied)
		}
	}
	return h, l.Pull.Number > 0 && !h.Closed && (Whole(h.Standing) || h.Removed != "" || h.Policies != "" || len(h.Notes) > 0)
}

// facts returns the facts for the check of a head. They come from the last look l and from all runs of the pull
// request.
func facts(l Look, all []runs.Run) requiredcheck.Facts {
	f := requiredcheck.Facts{Closed: l.Closed && !l.Merged, Refused: l.Refused != "", Problem: l.Problem != "", Conflict: l.Conflict, Denied: l.Denied != "", Policies: l.Policies != "" && !l.Closed}
	planned := 0
	for _, r := range all {
		switch {
		case r.Spec.Head != l.Head && r.Phase.UnderWay():
			f.Projects = append(f.Projects, comment.Postponed)
		case r.Spec.Head == l.Head && r.Phase != runs.Superseded:
			f.Projects = append(f.Projects, r.Standing())
		}
		if runs.CountedAtHead(r, l.Head) {
			planned++
		}
	}
	f.Unplanned = planned < l.Projects && (!l.Closed || l.Merged && l.Denied != "")
	return f
}

// Whole reports whether a state of a head is about the pull request as a whole, and not the state of one of its
// projects.
func Whole(s comment.HeadStanding) bool {
	return slices.Contains([]comment.HeadStanding{
		comment.HeadAwaited, comment.HeadGivenUp, comment.HeadUnknown, comment.HeadNotAllowed, comment.HeadConflict, comment.HeadPolicies, comment.HeadRefused, comment.HeadNothing, comment.HeadClosed,
	}, s)
}
