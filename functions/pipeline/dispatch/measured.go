package dispatch

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/functions/metrics"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// measured is an engine that measures its runs.
type measured struct {
	jobs.Engine
	measure metrics.Func
}

// Plan implements jobs.Engine.
func (e measured) Plan(ctx context.Context, j jobs.Job) (jobs.PlanResult, error) {
	made, err := e.Engine.Plan(ctx, j)
	e.count("plan", err, made.Plan == nil && !made.Previewed, false, false)
	e.calls(made.Calls)
	return made, err
}

// Apply implements jobs.Engine.
func (e measured) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	out, err := e.Engine.Apply(ctx, j, plan, permit)
	e.count("apply", err, out.Failed, out.Refused || len(out.Moved) > 0, out.Resumable)
	e.calls(out.Calls)
	return out, err
}

// Check implements jobs.Engine.
func (e measured) Check(ctx context.Context, j jobs.Job, plan []byte) (jobs.Checked, error) {
	found, err := e.Engine.Check(ctx, j, plan)
	e.count("check", err, false, false, false)
	return found, err
}

// count counts a run of the engine under the result of the run.
func (e measured) count(run string, err error, failed, refused, stopped bool) {
	result := metrics.Succeeded
	switch {
	case errors.As(err, new(*jobs.DeathError)):
		result = metrics.Died
	case refused:
		result = metrics.Refused
	case stopped:
		result = metrics.Stopped
	case err != nil || failed:
		result = metrics.Failed
	}
	e.measure.Observe(metrics.Runs, 1, run, result)
}

// methods are the names that calls have in the protocol's version 5, with those of version 6.
var methods = map[string]string{"Configure": "ConfigureProvider", "GetSchema": "GetProviderSchema", "ValidateResourceTypeConfig": "ValidateResourceConfig"}

func (e measured) calls(all jobs.Calls) {
	for method, x := range all {
		if name, ok := methods[method]; ok {
			method = name
		}
		e.measure.Observe(metrics.ProviderCalls, float64(x.N), method)
		e.measure.Observe(metrics.ProviderSeconds, x.Seconds, method)
	}
}
