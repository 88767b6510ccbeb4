package gatefacts

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// MayQuery decides whether a run's project may be queried, or parts of its state shown, by a command with the given
// verb. It returns true if the project may be planned with the credentials of a plan, so never for a fork.
func MayQuery(ctx context.Context, e *Reader, verb comment.Verb, r runs.Run) (admission.Decision, error) {
	_, d, err := e.Ask(ctx, queryRequest(e, verb, r), nil)
	if err != nil || !d.Allowed() {
		return d, err
	}
	if e.Pull.Fork() {
		return admission.Refusal(reasons.QueryOfFork{}), nil
	}
	return admission.Decision{}, nil
}

// queryRequest returns the request for a command that queries a project or shows parts of its state.
func queryRequest(e *Reader, verb comment.Verb, r runs.Run) admission.Request {
	// the command does not depend on the run's plan, so the gate is asked as if the run were not planned yet
	r.Phase, r.Spec.Options = runs.Queued, runs.Run{}.Spec.Options
	q := e.Request(comment.Plan, r)
	q.Shows = verb == comment.Output || verb == comment.Show
	return q
}

// QueryJob returns the job for the query of a run's project, whose commit is checked out in dir. It has the
// rights of a plan. problem is the reason if there is no job.
func QueryJob(ctx context.Context, e *Reader, verb comment.Verb, r runs.Run, dir string) (j jobs.Job, no admission.Decision, problem string, err error) {
	place := func(ctx context.Context, q *admission.Request) (err error) {
		j, q.Unusable, err = e.Job(ctx, q, dir)
		return err
	}
	q, d, err := e.Ask(ctx, queryRequest(e, verb, r), Sources{admission.StatePlace: place})
	if err != nil || q.Unusable != "" {
		return j, no, q.Unusable, err
	}
	return j, d, "", nil
}

// DirInBase returns the directory of a run's project at the base commit. ok is false if that commit does not have
// the project.
func DirInBase(ctx context.Context, e *Reader, r runs.Run) (dir string, ok bool, err error) {
	b, err := e.baseAt(ctx, r.Spec.Base)
	if err != nil {
		return "", false, err
	}
	for _, p := range b.projects {
		if p.Name == r.Project && p.Workspace == r.Workspace {
			return p.Dir, true, nil
		}
	}
	return "", false, nil
}
