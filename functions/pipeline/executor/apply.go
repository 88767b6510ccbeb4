package executor

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config/early"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/operation"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Apply applies a plan; it implements jobs.Engine.
func (e *Engine) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	j.Access = jobs.Writes
	o, ds, err := e.open(ctx, j, true)
	//lint:ignore SA5001 after an error, too, there is something to close
	defer o.Close()
	if err != nil {
		return jobs.Outcome{}, fmt.Errorf("open %s: %w", describe(j), err)
	}
	p, ds := o.prepare(ctx, plan, ds)
	if err := ctx.Err(); err != nil {
		return jobs.Outcome{}, fmt.Errorf("apply %s: %w", describe(j), context.Cause(ctx))
	}
	if ds.HasErrors() {
		return o.untouchedBy(p, ds), nil
	}
	if len(o.moved) > 0 {
		return jobs.Outcome{Moved: o.moved}, nil
	}
	if j.Continues && (o.present.OtherVersion || o.Begun == nil && !untouched(ctx, o)) {
		return jobs.Outcome{Failed: true, Lost: true, State: o.stateID(), Report: notes.NotResumable()}, nil
	}
	p, ds, err = replan{o}.permitted(ctx, p, permit)
	switch {
	case err != nil:
		return jobs.Outcome{}, err
	case ds.HasErrors():
		return o.untouchedBy(p, ds), nil
	case p == nil:
		return jobs.Outcome{Refused: true}, nil
	}
	return o.apply(ctx, p), nil
}

// untouchedBy returns the result of an apply that ended with the errors ds before its first change.
func (o *checkout) untouchedBy(p *plans.Plan, ds diags.Diagnostics) jobs.Outcome {
	res := jobs.Outcome{Failed: true, State: o.stateID()}
	res.Report, res.Full = o.reporter(o.secrets(p, nil)).trouble(ds)
	return res
}

// untouched reports whether earlier processes have certainly changed nothing. It returns true only if two
// things are true: the state is still that of the plan, and the backend can store a journal, which would show
// any change.
func untouched(ctx context.Context, o *checkout) bool {
	return runs.StateID(o.Opened) == o.job.Planned && o.CanJournal(ctx)
}

// saveEvery is how often an apply saves the state, so a killed process loses the changes of at most this time.
// Terraform's command line saves every 20 s. Lockstep saves more often, because a Lambda function can be killed
// at any time.
const saveEvery = 4 * time.Second

// apply applies a plan. After the end of the job's time, it begins no more changes.
func (o *checkout) apply(ctx context.Context, p *plans.Plan) jobs.Outcome {
	begin, cancel := jobs.StartingContext(ctx, o.job.Times)
	defer cancel()
	t := &teller{tell: o.job.Progress, log: &o.log, far: comment.Progress{Of: operation.Actions(p)}}
	if o.Begun != nil {
		t.far.Done = o.Begun.Done
	}
	if t.tell != nil {
		t.hide = o.secrets(p, nil).From
	}
	t.typical, o.Counting = o.job.Typical, t.count
	stop := t.begin(ctx)
	defer stop()
	run := o.run(context.WithoutCancel(ctx))
	run.Events = func(e events.Event) {
		t.listen(e)
		o.engine.Events.Send(e)
	}
	// hide removes the secrets of the state after the apply. Finding them means searching the whole state, so it
	// is done once.
	var hide *secrets
	if tell := o.job.Ended; tell != nil {
		o.Ended = func(done operation.Applied, ds diags.Diagnostics) error {
			stop() // the result comes after the last report
			hide = o.secrets(p, done.State)
			t.finish(hide.From)
			return tell(outcome(o, p, done, ds, t.progress(), hide))
		}
	}
	done, ds := o.Apply(begin, run, p, engine.ApplyOptions{SaveEvery: saveEvery})
	stop()
	if hide == nil {
		hide = o.secrets(p, done.State)
	}
	if o.job.Ended == nil {
		t.finish(hide.From)
	}
	ds = append(ds, o.overload(ds, p)...)
	if done.Unsaved {
		ds = append(ds, o.rescue(ctx, done.State)...)
	}
	if done.Resumable && context.Cause(begin) == jobs.ErrTime && o.State.Holding() != nil {
		o.Leave() // The state stays locked with its lease. Without a lease, the next process of the run could not take over the lock.
	}
	out := outcome(o, p, done, ds, t.progress(), hide)
	out.Took, out.Calls = t.durations(), o.calls.take()
	if done.State != nil {
		out.Contents = o.contents(done.State, hide)
	}
	return out
}

// overload returns the hint of [operation.Overload], with the lines to add to the project's block in
// lockstep.hcl.
func (o *checkout) overload(ds diags.Diagnostics, p *plans.Plan) diags.Diagnostics {
	limit := o.job.ProviderLimits()
	if limit == nil {
		limit = func(addrs.Provider) int { return 0 }
	}
	return operation.Overload(ds, p, limit, func(of addrs.Provider) string {
		return fmt.Sprintf("Add this to the block of the project %q in lockstep.hcl, so that the provider gets one call at a time, and plan again:\n  provider_parallelism = { %q = 1 }", o.job.Project, of.ForDisplay())
	})
}

// outcome returns the result of an apply. done is what the apply has changed, ds are its messages, far is its
// progress. hide removes secrets.
func outcome(o *checkout, p *plans.Plan, done operation.Applied, ds diags.Diagnostics, far comment.Progress, hide *secrets) jobs.Outcome {
	res := jobs.Outcome{Failed: ds.HasErrors(), Resumable: done.Resumable, State: o.stateID(), Counts: counts(p, done.Tally), Progress: far}
	if !res.Failed {
		res.Report, res.Full = o.reporter(hide).results(done.State, ds)
		return res
	}
	left := done.Tally.Left()
	res.Remaining = len(left)
	res.Report, res.Full = o.reporter(hide).remains(left, ds)
	return res
}

// prepare opens everything for applying a saved plan: the configuration in the plan, and the state, which it
// locks. It returns nil without errors in two cases: modules have changed, or the plan has the format of
// another version of Lockstep.
func (o *checkout) prepare(ctx context.Context, saved []byte, ds diags.Diagnostics) (*plans.Plan, diags.Diagnostics) {
	if ds.HasErrors() {
		return nil, ds
	}
	o.Planned = operation.PlanID(saved)
	if ds = append(ds, o.lock(ctx, "OperationTypeApply")...); ds.HasErrors() {
		return nil, ds
	}
	if ds = append(ds, o.providers(ctx)...); ds.HasErrors() {
		return nil, ds
	}
	file, more := replan{o}.decode(ctx, saved)
	if ds = append(ds, more...); file == nil || ds.HasErrors() {
		return nil, ds
	}
	if len(o.moved) > 0 {
		return nil, ds
	}
	o.merged.planned = file.Config
	more = o.LoadPlanned(file, o.Config.Manifest().Lookup(), early.Input{Workspace: o.job.Workspace, BaseDir: o.dir(), Files: o.window})
	if ds = append(ds, more...); ds.HasErrors() {
		return nil, ds
	}
	o.Variables = o.merged.completed(file.Plan)
	var err error
	if o.remote != nil {
		if err = o.remote.Recall(ctx, file.Plan); err != nil {
			return nil, append(ds, diags.FromError("The plan cannot be read", err)...)
		}
	}
	if o.present.Content, _, err = o.contentOf(ctx, file.Plan); err != nil {
		return nil, append(ds, diags.FromError("The saved plan cannot be judged", err)...)
	}
	return file.Plan, append(ds, o.refuseProvisioners()...)
}

// counts returns how many objects a completed apply has changed. It takes the numbers of imported and forgotten
// objects from the plan: the tally counts only objects that a provider has changed.
func counts(p *plans.Plan, done *operation.Tally) counting.Counts {
	n, planned := done.Done(), p.Counts()
	n.Import, n.Forget = planned.Import, planned.Forget
	return n
}
