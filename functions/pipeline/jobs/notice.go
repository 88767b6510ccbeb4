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

// A Notice is one notification, with the results in a pull request that it reports.
type Notice struct {
	Notification endpoints.Notification
	URL          string // of the pull request or the issue, for people
	Happened     []Happened
}

// Happened is the result of a run, as notifications report it.
type Happened struct {
	Outcome endpoints.Outcome
	Run     runs.Run
	Counts  counting.Counts // planned, or made
	// Drifted is the number of objects that a look has found changed. Name identifies the result of a look, which has no run
	// of a pull request; it is "" for any other result.
	Drifted int
	Name    string
}

// A NotifyFunc delivers a notice. An error means that it was not delivered.
type NotifyFunc func(context.Context, Notice) error

// OutcomeOf returns the result of a run, and a name that is unique among the results of this run. The name is
// "" if there is no result to report.
func OutcomeOf(r runs.Run) (h Happened, name string) {
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
		failed := r.Phase == runs.Dropped && r.End.Fate == runs.Merged && r.End.Was == runs.PlanFailed // the failed plan is merged by now
		if at := r.Standing(); at != comment.NotApplied && (!failed || at == comment.NoChanges) {
			return h, ""
		}
		h.Outcome = endpoints.OutcomeNotApplied
	}
	name = fmt.Sprintf("%s %d", h.Outcome, r.Asked.Attempt)
	if r.Standing() == comment.Renewed { // another plan has replaced the one that was reported
		name += " " + r.Plan.Hash
	}
	return h, name
}

// Standing returns the result as a state for people. For a failed plan of a merged pull request, it is "not
// applied".
func (h Happened) Standing() comment.Standing {
	if h.Outcome == endpoints.OutcomeNotApplied {
		return comment.NotApplied
	}
	return h.Run.Standing()
}

// ID returns a text that identifies a notice. If the same notice is sent twice, the ID is the same.
func (n Notice) ID() string {
	sum := sha256.New()
	fmt.Fprintln(sum, n.Notification.Name)
	for _, h := range n.Happened {
		name := h.Name
		if name == "" {
			_, name = OutcomeOf(h.Run)
		}
		fmt.Fprintln(sum, h.Run.Key(), name)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}
