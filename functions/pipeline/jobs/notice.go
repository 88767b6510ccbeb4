package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
)

// A Notice is the outcomes in a pull request that a notification is about.
type Notice struct {
	Notification endpoints.Notification
	URL          string // of the pull request, for people
	Happened     []Happened
}

// Happened is the outcome of a run.
type Happened struct {
	Outcome endpoints.Outcome
	Run     runs.Run
	Counts  counting.Counts // that are planned, or were made
}

// A NotifyFunc tells somebody. An error is a notification that was not delivered.
type NotifyFunc func(context.Context, Notice) error

// What returns what has become of a run at rest, and a name for it that no other outcome of the run has; "" if nothing has.
func What(r runs.Run) (h Happened, name string) {
	h = Happened{Run: r, Counts: r.Plan.Counts}
	switch r.Phase {
	case runs.Planned:
		if r.Standing() == comment.NotApplied {
			h.Outcome = endpoints.OutcomeNotApplied
			break
		}
		if runs.Preview(r) {
			return h, ""
		}
		if h.Outcome = endpoints.OutcomePlanned; !r.Plan.Applyable {
			h.Outcome = endpoints.OutcomeUnchanged
		}
	case runs.PlanFailed:
		h.Outcome = endpoints.OutcomePlanFailed
	case runs.Applied, runs.ApplyFailed, runs.Stopped:
		h.Outcome, h.Counts = map[runs.Phase]endpoints.Outcome{
			runs.Applied: endpoints.OutcomeApplied, runs.ApplyFailed: endpoints.OutcomeApplyFailed, runs.Stopped: endpoints.OutcomeApplyStopped,
		}[r.Phase], r.Apply.Done
		return h, fmt.Sprintf("%s %d", h.Outcome, r.Asked.Try)
	default:
		failed := r.Phase == runs.Dropped && r.End.Fate == runs.Merged && r.End.Was == runs.PlanFailed // and is merged since
		if at := r.Standing(); at != comment.NotApplied && (!failed || at == comment.NoChanges) {
			return h, ""
		}
		h.Outcome = endpoints.OutcomeNotApplied
	}
	name = fmt.Sprintf("%s %d", h.Outcome, r.Asked.Attempt)
	if r.Standing() == comment.Renewed { // it is another plan than the one that was told
		name += " " + r.Plan.Hash
	}
	return h, name
}

// Standing is the outcome, for people: a merge leaves a plan that had failed as one that is not applied.
func (h Happened) Standing() comment.Standing {
	if h.Outcome == endpoints.OutcomeNotApplied {
		return comment.NotApplied
	}
	return h.Run.Standing()
}

// ID distinguishes notices: whoever is told the same again gets the same ID.
func (n Notice) ID() string {
	sum := sha256.New()
	fmt.Fprintln(sum, n.Notification.Name)
	for _, h := range n.Happened {
		_, name := What(h.Run)
		fmt.Fprintln(sum, h.Run.Key(), name)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}
