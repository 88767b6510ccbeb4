package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/hooks"
)

// A Step is a hook that is to be called at an event of a run.
type Step struct {
	Hook  hooks.Hook
	Event hooks.Event
	Run   runs.Run
	// Failed is set, after a plan or an apply, if it failed. Counts are the changes that are planned, or were made.
	Failed bool
	Counts counting.Counts
	// Again is set after a plan that takes the place of the run's plan, and was made at State.
	Again bool
	State runs.StateID
}

// A StepFunc calls a hook. An error is a failure of the world that may pass; a hook that does not answer as it should
// has a mistake instead. After the death of a process a step is called again, with the same ID.
type StepFunc func(context.Context, Step) (reasons.Hooked, error)

// ID distinguishes steps: a hook gets each at least once. Steps after a plan are the same if their outcomes are.
func (s Step) ID() string {
	number := s.Run.Attempt
	if s.Event == hooks.BeforeApply || s.Event == hooks.AfterApply {
		number = s.Run.Try
	}
	name := fmt.Appendf(nil, "%s\n%s\n%s\n%d", s.Hook.Name, s.Event, s.Run.Key(), number)
	if s.Event == hooks.AfterPlan { // a plan that is made again after a death may be another one, of a state that was written meanwhile
		name = fmt.Appendf(name, "\n%v\n%+v", s.Failed, s.Counts)
	}
	if s.Again { // the plan may be made twice, with the same cause
		name = fmt.Appendf(name, "\n%s\n%v", s.Run.Merge, s.State)
	}
	sum := sha256.Sum256(name)
	return hex.EncodeToString(sum[:16])
}
