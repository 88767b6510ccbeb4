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

// A Step is a hook that is to be called at an event of a run.
type Step struct {
	Hook  endpoints.Hook
	Event endpoints.HookEvent
	Run   runs.Run
	// Failed is set, after a plan or an apply, if it failed. Counts are the changes that are planned, or were made.
	Failed bool
	Counts counting.Counts
	// State is that of a plan, after it. Again is set if it takes the place of the run's plan.
	State runs.StateID
	Again bool
}

// A StepFunc calls a hook. An error is a failure of the world that may pass; a hook that does not answer as it should
// has a mistake instead. After the death of a process a step is called again, with the same ID, unless its plan is another
// one by then.
type StepFunc func(context.Context, Step) (reasons.Hooked, error)

// ID distinguishes steps: a hook gets each at least once.
func (s Step) ID() string {
	number := s.Run.Asked.Attempt
	if s.Event == endpoints.BeforeApply || s.Event == endpoints.AfterApply {
		number = s.Run.Asked.Try
	}
	name := fmt.Appendf(nil, "%s\n%s\n%s\n%d", s.Hook.Name, s.Event, s.Run.Key(), number)
	if s.Event == endpoints.AfterPlan { // after a death the plan is made again, with the same cause, perhaps of another state
		name = fmt.Appendf(name, "\n%s\n%v\n%t\n%v\n%t", s.Run.Spec.Merge, s.State, s.Failed, s.Counts, s.Again)
	}
	sum := sha256.Sum256(name)
	return hex.EncodeToString(sum[:16])
}
