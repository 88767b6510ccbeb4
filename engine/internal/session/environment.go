package session

import (
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/events"
)

// An Environment is the part of a run's input that is the same for validation, planning and
// applying. Their inputs embed it, so that none of them can forget a field.
type Environment struct {
	eval.Program
	Providers Providers
	// Bodies are shared by the phases of a run; nil: each phase has its own.
	Bodies *Bodies
	// Events is told of the progress of planning and applying; nil: nobody is.
	Events events.Listener
	// Parallelism is the number of provider calls that may be under way at a time; 0 means
	// [DefaultParallelism]. Validation, whose calls are short, does not look at it.
	Parallelism int
}

// DefaultParallelism is the number of provider calls under way at a time unless the run
// has another. Source: Terraform's option -parallelism.
const DefaultParallelism = 10

// Calls returns the number of provider calls that may be under way at a time.
func (e *Environment) Calls() int {
	if e.Parallelism <= 0 {
		return DefaultParallelism
	}
	return e.Parallelism
}
