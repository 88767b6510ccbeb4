package applyrun

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// A stateAccess gives a command other than plan and apply access to the state of one project.
type stateAccess struct {
	facts   *gatefacts.Reader
	report  *report.Reporter
	command comment.Command
}

// do asks the gate about a run. If the gate allows the command, do calls work with the job of the run. do
// returns the reply of work, or the refusal.
func (x stateAccess) do(ctx context.Context, r runs.Run, work func(jobs.Job) (comment.Reply, error)) (comment.Reply, error) {
	q, no, err := x.allowed(ctx, r)
	if err != nil || no != nil {
		return no, err
	}
	refused := func(why reasons.Reason) (comment.Reply, error) {
		return gatefacts.Refused(x.command, runs.Label(r), admission.Refusal(why)), nil
	}
	// The lock was taken with the configuration of the trial merge, which GitHub deletes after some time.
	dir, done, err := x.facts.Checkout(ctx, r.Spec.Merge)
	if errors.Is(err, github.ErrNotFound) {
		dir, done, err = x.facts.Checkout(ctx, r.Spec.Head)
	}
	if errors.Is(err, github.ErrNotFound) {
		return refused(reasons.CommitGone{Problem: err.Error()})
	}
	if err != nil {
		return gatefacts.FinalReply(x.command, runs.Label(r), err)
	}
	defer done()
	job, problem, err := x.facts.Job(ctx, &q, dir)
	if err != nil {
		return gatefacts.FinalReply(x.command, runs.Label(r), err)
	}
	if d := admission.Decide(q); !d.Allowed() {
		return gatefacts.Refused(x.command, runs.Label(r), d), nil
	}
	if problem != "" {
		return refused(reasons.Unusable{Problem: problem})
	}
	reply, err := work(job)
	var state *jobs.StateError
	if errors.As(err, &state) {
		return refused(reasons.StateUnreachable{Problem: x.report.Clean(state.Why), Remedy: state.Remedy})
	}
	return reply, err
}

// allowed asks the gate. A non-nil reply is the refusal.
func (x stateAccess) allowed(ctx context.Context, r runs.Run) (q admission.Request, no comment.Reply, err error) {
	if q, err = x.facts.Request(ctx, x.command.Verb, r); err != nil {
		no, err = gatefacts.FinalReply(x.command, runs.Label(r), err)
		return q, no, err
	}
	if d := admission.Decide(q); !d.Allowed() {
		no = gatefacts.Refused(x.command, runs.Label(r), d)
	}
	return q, no, nil
}
