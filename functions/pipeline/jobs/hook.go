package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
)

// A HookCall is the call of a hook at an event of a run.
type HookCall struct {
	Hook  endpoints.Hook
	Event endpoints.HookEvent
	Run   runs.Run
	// Failed is set for a hook that is called after a failed plan or apply. Counts are the changes that are
	// planned or, after an apply, that were made.
	Failed bool
	Counts counting.Counts
	// State is the state from which the plan was made; it is set for a hook after a plan. Again is set if the
	// plan replaces an earlier plan of the run.
	State runs.StateID
	Again bool
}

// A HookFunc calls a hook. An error is a failure that may pass, such as that of a network. If the hook's answer
// is wrong, the returned reasons.Hooked says what is wrong. If a process dies, the hook is called once more
// with the same ID, unless there is a different plan by then.
type HookFunc func(context.Context, HookCall) (reasons.Hooked, error)

// ID returns the ID of a call. A hook is called at least once for each ID, and recognizes a repeated call by it.
func (s HookCall) ID() string {
	number := s.Run.Asked.Attempt
	if s.Event == endpoints.BeforeApply || s.Event == endpoints.AfterApply {
		number = s.Run.Asked.Try
	}
	name := fmt.Appendf(nil, "%s\n%s\n%s\n%d", s.Hook.Name, s.Event, s.Run.Key(), number)
	if s.Event == endpoints.AfterPlan { // after a death the plan is made again for the same message, perhaps from another state
		name = fmt.Appendf(name, "\n%s\n%v\n%t\n%v\n%t", s.Run.Spec.Merge, s.State, s.Failed, s.Counts, s.Again)
	}
	sum := sha256.Sum256(name)
	return hex.EncodeToString(sum[:16])
}
