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

// A Step is the call of a hook at an event of a run.
type Step struct {
	Hook  endpoints.Hook
	Event endpoints.HookEvent
	Run   runs.Run
	// Failed is set for a hook after a plan or an apply that failed. Counts are the changes that are planned,
	// or were made.
	Failed bool
	Counts counting.Counts
	// State is the state that the plan was made from, for a hook after a plan. Again is set if the plan
	// replaces the run's former plan.
	State runs.StateID
	Again bool
}

// A StepFunc calls a hook. An error is a failure that may pass, such as that of the network. If a hook
// answers wrongly, the returned reasons.Hooked says what was wrong. If a process dies, the step is called
// again with the same ID, unless its plan is a different one by then.
type StepFunc func(context.Context, Step) (reasons.Hooked, error)

// ID returns the ID of a step. A hook is called at least once for each step, and recognizes a repetition by the
// ID.
func (s Step) ID() string {
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
