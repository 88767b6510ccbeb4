package jobs

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/comment"
)

// Engine plans and applies. A refusal by the configuration, a provider or a state lock is a result;
// an error is a failure of the world that may pass.
type Engine interface {
	Plan(ctx context.Context, j Job) (PlanResult, error)
	// Snapshot returns the state of a job, of a commit of the base branch, for plans of others' commits.
	Snapshot(ctx context.Context, j Job) (Snapshot, error)
	// Apply carries out a plan. permit is asked with the state locked whether the plan may be
	// applied to it. If it wants a new plan, that is made with the same lock, and permit is asked
	// once more, with it: the new plan is the one that is applied then. If permit refused, or was
	// not asked, or there is an error, nothing was changed.
	Apply(ctx context.Context, j Job, plan []byte, permit func(BeforeApply) Permit) (Outcome, error)
	// Check makes a plan as Plan does, and compares it with one that was made before.
	Check(ctx context.Context, j Job, plan []byte) (Checked, error)
	// Recover brings the results of applies that did not come to their end into the state, and
	// reports what a person has to look at. The error is a *StateError as with Unlock, and where the
	// state is locked.
	Recover(ctx context.Context, j Job) (comment.Recovered, error)
	// Unlock releases locks that were taken for j.Owner and are still there. The error is a
	// *StateError if the configuration does not say, or must not say, where the state is,
	// or if the store does not let us.
	Unlock(ctx context.Context, j Job) (Unlocked, error)
}

// Unlocked is the result of releasing the locks of a state.
type Unlocked struct {
	Locks int // that were released
	// Others names who holds locks that are not the job's: "carol@laptop since
	// 2025-01-02T15:04:05Z".
	Others []string
}

// A StateError is a state that cannot be reached, now or in another attempt.
type StateError struct {
	Why    string
	Remedy string // a sentence, in Markdown
}

// Error implements error.
func (e *StateError) Error() string { return "its state cannot be reached: " + e.Why }
