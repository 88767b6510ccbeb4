package requiredcheck

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// Facts are the facts about a pull request whose head was examined.
type Facts struct {
	Closed bool // closed without a merge
	// Refused is set if Lockstep plans nothing of the pull request: it comes from a fork, or the settings do
	// not name its base branch.
	Refused bool
	// Problem is set if Lockstep cannot determine the projects of the pull request. Conflict is set if the pull
	// request conflicts with its base branch.
	Problem, Conflict bool
	// Unplanned is set if the head changes projects that have no plan, and whose plan is not in progress.
	// Denied is set if the gate has refused these plans.
	Unplanned, Denied bool
	// Policies is set if policies in the head have errors, which would block applies after the merge.
	Policies bool
	Projects []comment.Standing // the states of the projects at the head
}

// pending are the states of a project that end without a person, such as "planning". As long as a project has
// one, the states of all other projects do not count.
var pending = []row{
	{comment.Applying, comment.HeadApplying}, {comment.ApplyQueued, comment.HeadApplying}, {comment.Awaiting, comment.HeadApplying},
	{comment.Planning, comment.HeadPlanning}, {comment.Queued, comment.HeadPlanning}, {comment.Postponed, comment.HeadPlanning},
}

// settled are all states that are not in [pending], the worst one first.
var settled = []row{
	{comment.ApplyFailed, comment.HeadApplyFailed}, {comment.PlanFailed, comment.HeadPlanFailed},
	{comment.Denied, comment.HeadDenied},
	{comment.Blocked, comment.HeadBlocked},
	{comment.PlanStopped, comment.HeadPlanStopped}, {comment.Stopped, comment.HeadStopped}, {comment.NotApplied, comment.HeadNotApplied}, {comment.Stale, comment.HeadStale}, {comment.Renewed, comment.HeadRenewed},
	{comment.PartPlanned, comment.HeadPart}, {comment.PartApplied, comment.HeadPart},
	{comment.Ready, comment.HeadWaiting}, {comment.OnceMerged, comment.HeadOnceMerged}, {comment.OnMerge, comment.HeadOnMerge},
	{comment.Previewed, comment.HeadPreviewed},
	{comment.Applied, comment.HeadApplied}, {comment.NoChanges, comment.HeadNoChanges},
}

// A row says which state the head has if one of its projects has the state project.
type row struct {
	project comment.Standing
	head    comment.HeadStanding
}

// Of returns the state of a head.
func Of(f Facts) comment.HeadStanding {
	switch {
	case f.Closed:
		return comment.HeadClosed
	case f.Refused:
		return comment.HeadRefused
	case f.Problem:
		return comment.HeadUnknown
	case f.Conflict:
		return comment.HeadConflict
	}
	if r := first(pending, f.Projects); r != "" {
		return r
	}
	if f.Unplanned && f.Denied {
		return comment.HeadNotAllowed
	}
	if f.Unplanned {
		return comment.HeadAwaited
	}
	s := cmp.Or(first(settled, f.Projects), comment.HeadNothing)
	if _, c := concluded(s, ""); f.Policies && c != github.ConcludedFailure {
		return comment.HeadPolicies
	}
	return s
}

// first returns the head's state from the first row that matches one of the projects; "" if no row does.
func first(rows []row, projects []comment.Standing) comment.HeadStanding {
	for _, r := range rows {
		if slices.Contains(projects, r.project) {
			return r.head
		}
	}
	return ""
}

// Conclude returns the status and the conclusion of a check run. The conclusion is "failure" only if something
// has failed or was denied. It is "action_required" if the check waits for a person; a required check does not
// pass with that, either. w decides about plans that wait for an apply.
func Conclude(s comment.HeadStanding, w project.Waiting) (github.CheckStatus, github.Conclusion) {
	status, conclusion := concluded(s, w)
	if status == "" {
		panic(fmt.Sprintf("requiredcheck: there is no standing %q of a head", s))
	}
	return status, conclusion
}

// concluded is like [Conclude], but returns no status for a state that it does not know.
func concluded(s comment.HeadStanding, w project.Waiting) (github.CheckStatus, github.Conclusion) {
	switch s {
	case comment.HeadAwaited, comment.HeadPlanning, comment.HeadQueuePlanning:
		return github.CheckQueued, ""
	case comment.HeadApplying:
		return github.CheckInProgress, ""
	case comment.HeadUnknown, comment.HeadNotAllowed, comment.HeadConflict, comment.HeadPolicies, comment.HeadPlanFailed, comment.HeadApplyFailed, comment.HeadDenied, comment.HeadGivenUp, comment.HeadQueueDiffers, comment.HeadQueueFailed, comment.HeadQueueUnseen, comment.HeadQueueApart:
		return github.CheckCompleted, github.ConcludedFailure
	case comment.HeadRefused, comment.HeadBlocked, comment.HeadPlanStopped, comment.HeadStopped, comment.HeadNotApplied, comment.HeadStale, comment.HeadRenewed, comment.HeadPart:
		return github.CheckCompleted, github.ConcludedActionRequired
	case comment.HeadPreviewed, comment.HeadOnceMerged: // the merge comes before the apply, whatever the base branch requires of others
		return github.CheckCompleted, github.ConcludedNeutral
	case comment.HeadWaiting:
		if w == project.WaitingFails {
			return github.CheckCompleted, github.ConcludedActionRequired
		}
		return github.CheckCompleted, github.ConcludedNeutral
	case comment.HeadOnMerge, comment.HeadApplied, comment.HeadNoChanges, comment.HeadNothing:
		return github.CheckCompleted, github.ConcludedSuccess
	case comment.HeadClosed, comment.HeadLeft, comment.HeadDequeued:
		return github.CheckCompleted, github.ConcludedCancelled
	}
	return "", ""
}

// Passes reports whether GitHub lets people merge if it requires this check run.
func Passes(s comment.HeadStanding, w project.Waiting) bool {
	_, c := Conclude(s, w)
	return c == github.ConcludedSuccess || c == github.ConcludedNeutral
}
