package applyrun

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/audit"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// A stateAccess gives commands such as unlock access to the state of one project.
type stateAccess struct {
	facts   *gatefacts.Reader
	report  *report.Reporter
	audit   audit.Trail
	command comment.Command
}

// allowances are the audit records of the commands.
var allowances = map[comment.Verb]audit.Event{comment.Unlock: audit.UnlockAllowed, comment.Recover: audit.RecoverAllowed}

// do asks the gate about a run. If the gate allows the command, it calls work with the job of the run, and
// returns the reply of work. Otherwise it returns the refusal.
func (x stateAccess) do(ctx context.Context, r runs.Run, work func(jobs.Job) (comment.Reply, error)) (comment.Reply, error) {
	in := lockCheckout{facts: x.facts}
	defer in.close()
	d, err := in.ask(ctx, x.command.Verb, r)
	if err != nil {
		return gatefacts.FinalReply(x.command, runs.Label(r), err)
	}
	if !d.Allowed() {
		return gatefacts.Refused(x.command, runs.Label(r), d), nil
	}
	if err := x.audit.Command(ctx, x.facts.Message, r, allowances[x.command.Verb], ""); err != nil {
		return gatefacts.NotRecorded(x.command, runs.Label(r), err)
	}
	reply, err := work(in.job)
	var state *jobs.StateError
	if errors.As(err, &state) {
		no := admission.Refusal(reasons.StateUnreachable{Problem: x.report.Clean(state.Why), Remedy: state.Remedy})
		return gatefacts.Refused(x.command, runs.Label(r), no), nil
	}
	return reply, err
}

// allowed asks the gate. If the gate refuses, no is the reply with the reasons in d; otherwise no is nil.
func (x stateAccess) allowed(ctx context.Context, r runs.Run) (d admission.Decision, no comment.Reply, err error) {
	_, d, err = x.facts.Ask(ctx, x.facts.Request(x.command.Verb, r), nil)
	if err != nil {
		no, err = gatefacts.FinalReply(x.command, runs.Label(r), err)
		return d, no, err
	}
	if !d.Allowed() {
		no = gatefacts.Refused(x.command, runs.Label(r), d)
	}
	return d, no, nil
}

// A lockCheckout is a checkout of the commit with which a run took the lock on its state.
type lockCheckout struct {
	facts *gatefacts.Reader
	job   jobs.Job
	done  func()
}

// ask asks the gate about a command for a run, with the address of the run's state. If the gate allows the
// command, it sets in.job.
func (in *lockCheckout) ask(ctx context.Context, verb comment.Verb, r runs.Run) (admission.Decision, error) {
	_, d, err := in.facts.Ask(ctx, in.facts.Request(verb, r), gatefacts.Sources{admission.StatePlace: in.place})
	return d, err
}

// place finds the address of the state. The lock was taken with the configuration of the trial merge. GitHub
// deletes trial merges after some time; then place uses the configuration of the head.
func (in *lockCheckout) place(ctx context.Context, q *admission.Request) (err error) {
	dir, done, err := in.facts.Checkout(ctx, q.Run.Spec.Merge)
	if errors.Is(err, github.ErrNotFound) {
		dir, done, err = in.facts.Checkout(ctx, q.Run.Spec.Head)
	}
	if errors.Is(err, github.ErrNotFound) {
		q.Gone = err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	in.done = done
	in.job, q.Unusable, err = in.facts.Job(ctx, q, dir)
	return err
}

// close removes the checkout from the disk.
func (in *lockCheckout) close() {
	if in.done != nil {
		in.done()
	}
}
