package steps

import (
	"context"
	"errors"
	"maps"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A Trial is a plan without a record. Nobody can apply it.
type Trial struct {
	Run runs.Run
	Dir string // a checkout of the commit to plan
	// Again is the command that people give for another attempt.
	Again comment.Command
	// Request is the request to the gate. Sources read facts for it; the place of the state is read by [Runner.Plan].
	Request admission.Request
	Sources gatefacts.Sources
	// Edit completes the job.
	Edit func(*jobs.Job)
}

// Plan asks the gate about a trial, and makes its plan. If there is none, problem is the reason, in Markdown.
func (x Runner) Plan(ctx context.Context, e jobs.Engine, t Trial) (result jobs.PlanResult, problem string, err error) {
	if no, err := x.Generate(ctx, t.Run, t.Dir, t.Again); err != nil {
		return result, "", err
	} else if no != nil {
		return result, reasons.List{*no}.Markdown(), nil
	}
	var job jobs.Job
	sources := maps.Clone(t.Sources)
	if sources == nil {
		sources = gatefacts.Sources{}
	}
	sources[admission.StatePlace] = func(ctx context.Context, q *admission.Request) (err error) {
		job, q.Unusable, err = x.Facts.Job(ctx, q, t.Dir)
		return err
	}
	_, d, err := x.Facts.Ask(ctx, t.Request, sources)
	if err != nil {
		if d, err = gatefacts.FinalRefusal(err); err != nil {
			return result, "", err
		}
	}
	if !d.Allowed() {
		return result, d.Reasons.Markdown(), nil
	}
	t.Edit(&job)
	result, err = e.Plan(ctx, job)
	var dead *jobs.DeathError
	switch {
	case errors.As(err, &dead):
		return result, dead.Markdown(), nil
	case err != nil:
		return result, "", err
	case result.Plan == nil:
		return result, result.Report, nil
	}
	return result, "", nil
}
