package runs

import (
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

// A CheckRecord is the check of one run at its head. All records with the same check at the same
// commit, of any pull request, are read together, because GitHub shows a commit's check on each of
// them.
type CheckRecord struct {
	Pull  pipeline.Pull
	Key   string // of the run
	Check string // its name
	ID    int64  // of the check run, 0 if it is not known yet
	// Asked is set before GitHub is first asked for it: there may be one whose ID is not known.
	Asked  bool `json:",omitempty"`
	Status github.CheckStatus
	// Conclusion is that of this run alone, Shown the one in its check run. Locked is set if the check run tells of a
	// person's lock. Both of the latter are recorded once it is written.
	Conclusion, Shown github.Conclusion
	Locked            bool `json:",omitempty"`
}

// Tells reports whether the check run of a record tells a conclusion, and whether there is a lock. all are the records
// at the same commit.
func (c CheckRecord) Tells(conclusion github.Conclusion, locked bool, all []CheckRecord) bool {
	shown := conclusion
	if w := Worse(c, all); w != nil {
		shown = w.Conclusion
	}
	return c.Conclusion == conclusion && c.Shown == shown && c.Locked == locked
}

// Conclude returns the status and the conclusion of a check.
func Conclude(s comment.Standing) (github.CheckStatus, github.Conclusion) {
	switch s {
	case comment.Queued, comment.ApplyQueued, comment.Awaiting:
		return github.CheckQueued, ""
	case comment.Planning, comment.Applying:
		return github.CheckInProgress, ""
	case comment.Ready, comment.OnMerge, comment.NoChanges, comment.Applied, comment.Previewed:
		return github.CheckCompleted, github.ConcludedSuccess
	case comment.PlanFailed, comment.ApplyFailed, comment.Blocked:
		return github.CheckCompleted, github.ConcludedFailure
	case comment.Stale, comment.NotApplied, comment.Stopped, comment.Renewed, comment.PartPlanned, comment.PartApplied:
		return github.CheckCompleted, github.ConcludedActionRequired
	case comment.Superseded, comment.Closed:
		return github.CheckCompleted, github.ConcludedCancelled
	}
	panic(fmt.Sprintf("runs: there is no standing %q", s))
}

// worst are the conclusions from the worst on; those that are not listed are good.
var worst = []github.Conclusion{github.ConcludedFailure, github.ConcludedActionRequired}

// Counts reports whether the check can be the worse one of several at a commit.
func (c CheckRecord) Counts() bool { return slices.Contains(worst, c.Conclusion) }

// Worse returns the worst of the records with the same check at the same commit if it is worse than
// own, else nil. Checks that are not completed have no conclusion and do not count.
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

// Silent reports whether a run has no check run yet, unless it had one before: it is one of many, and its
// plan is not made. One that nobody wants any more gets none.
func (r Run) Silent() bool {
	switch r.Phase {
	case Queued, Planning, Superseded, Dropped:
		return r.Quiet
	}
	return false
}

// Made reports whether a run has come to the end of its plan, and was not applied since.
func (r Run) Made() bool { return r.Phase == Planned || r.Phase == PlanFailed }
