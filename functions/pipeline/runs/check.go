package runs

import (
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

// A CheckRecord is how one run stands at its head: all runs with the same check at the
// same commit, of whichever pull requests, are looked at together, since GitHub shows
// that commit's check on each of them.
type CheckRecord struct {
	Pull   pipeline.Pull
	Key    string // of the run
	Check  string // its name
	ID     int64  // of the check run, 0 if it is not known yet
	Status github.CheckStatus
	// Conclusion is the run's own, Shown what its check run says.
	Conclusion, Shown github.Conclusion
}

// Conclude says how the check of a run stands.
func Conclude(s comment.Standing) (github.CheckStatus, github.Conclusion) {
	switch s {
	case comment.Queued, comment.ApplyQueued:
		return github.CheckQueued, ""
	case comment.Planning, comment.Applying:
		return github.CheckInProgress, ""
	case comment.Ready, comment.OnMerge, comment.NoChanges, comment.Applied:
		return github.CheckCompleted, github.ConcludedSuccess
	case comment.PlanFailed, comment.ApplyFailed:
		return github.CheckCompleted, github.ConcludedFailure
	case comment.Stale, comment.NotApplied:
		return github.CheckCompleted, github.ConcludedActionRequired
	case comment.Superseded, comment.Closed:
		return github.CheckCompleted, github.ConcludedCancelled
	}
	panic(fmt.Sprintf("runs: there is no standing %q", s))
}

// worst are the conclusions from the worst on; those that are not listed are good.
var worst = []github.Conclusion{github.ConcludedFailure, github.ConcludedActionRequired}

// Worse returns, of the standings with one check at one commit, the one that is worse
// than own, nil if none is. What is under way has no conclusion and is left out.
func Worse(own CheckRecord, all []CheckRecord) *CheckRecord {
	rank := func(c github.Conclusion) int {
		if i := slices.Index(worst, c); i >= 0 {
			return i
		}
		return len(worst)
	}
	var found *CheckRecord
	at := rank(own.Conclusion)
	for i, s := range all {
		if s.Key != own.Key && s.Check == own.Check && rank(s.Conclusion) < at {
			found, at = &all[i], rank(s.Conclusion)
		}
	}
	return found
}
