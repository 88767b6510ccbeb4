package jobs

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Engine plans and applies. What the configuration, a provider or a state lock says
// no to is in the results; an error is a failure of the world that may pass.
type Engine interface {
	Plan(ctx context.Context, j Job) (PlanResult, error)
	// Apply carries out a plan. permit is asked once, with the state locked, whether
	// the plan may be applied to it. Where it was not asked, or said no, and where
	// there is an error, nothing was changed.
	Apply(ctx context.Context, j Job, plan []byte, permit func(runs.StateID) bool) (Outcome, error)
	// Unlock releases locks that were taken for j.Owner and are still there. The error is a
	// *StateError if the configuration does not say, or must not say, where the state is,
	// or if the store does not let us.
	Unlock(ctx context.Context, j Job) (Unlocked, error)
}

// Unlocked says what became of the locks of a state.
type Unlocked struct {
	Locks int // that were released
	// Others names who holds locks that are not the job's: "carol@laptop since
	// 2025-01-02T15:04:05Z".
	Others []string
}

// A StateError says that a project's state cannot be reached, which trying again does not
// change.
type StateError struct {
	Why    string
	Remedy string // a sentence, in Markdown
}

// Error implements error.
func (e *StateError) Error() string { return "its state cannot be reached: " + e.Why }
