package jobs

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/comment"
)

// Engine plans and applies. If the configuration, a provider or a state lock prevents that, the reason is part
// of the result. An error is a failure that may pass, such as that of a network.
type Engine interface {
	Plan(ctx context.Context, j Job) (PlanResult, error)
	// Snapshot returns the state of a job at a commit of the base branch, without secrets. Commits from forks
	// are planned with it.
	Snapshot(ctx context.Context, j Job) (Snapshot, error)
	// Apply applies a plan. It locks the state, and then calls permit to ask whether the plan may be applied to
	// it. If permit asks for a new plan, Apply makes one under the same lock, calls permit once more, and
	// applies the new plan. Nothing was changed if permit refused or was not called, or if Apply returns an
	// error.
	Apply(ctx context.Context, j Job, plan []byte, permit func(BeforeApply) Permit) (Outcome, error)
	// Check makes a plan as Plan does, and compares it with an earlier plan.
	Check(ctx context.Context, j Job, plan []byte) (Checked, error)
	// Test runs the tests of a job that [ForTests] has made.
	Test(ctx context.Context, j Job) (comment.Tests, error)
	// Query finds objects that exist, by the list blocks of the project, and says which of them the state has. It also
	// returns configuration for the objects that the state does not have, of at most room bytes; 0 means no
	// configuration. failure is the reason, in Markdown, if the query failed. Query changes nothing.
	Query(ctx context.Context, j Job, room int) (found comment.Queried, failure string, err error)
	// Show shows parts of the state, for the commands "output" and "show", without sensitive values. failure is the
	// reason, in Markdown, if there is nothing to show.
	Show(ctx context.Context, j Job, c comment.Command) (shown comment.Shown, failure string, err error)
	// Recover adds the results of unfinished applies to the state, and reports everything about which a person
	// must decide. The error is a *StateError in the same cases as for Unlock, and if the state is locked.
	Recover(ctx context.Context, j Job) (comment.Recovered, error)
	// Unlock releases the locks that j.Owner has on the state. The error is a *StateError in these cases: the
	// configuration does not name an address of the state, the address is not allowed, or the store denies the
	// request.
	Unlock(ctx context.Context, j Job) (Unlocked, error)
}

// Unlocked is the result of releasing the locks of a state.
type Unlocked struct {
	Locks int // released locks
	// Others describes who holds the locks that do not belong to the job: "carol@laptop since
	// 2025-01-02T15:04:05Z".
	Others []string
}

// A StateError reports that a state cannot be opened, and that another attempt would not help. Why says why.
type StateError struct {
	Why    string
	Remedy string // a sentence, in Markdown
}

// Error implements error.
func (e *StateError) Error() string { return "its state cannot be reached: " + e.Why }
