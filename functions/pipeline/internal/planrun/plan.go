package planrun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/engine/walk"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/integrations"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/stopping"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
	"github.com/lockstep-iac/lockstep/github"
)

// ErrSuperseded is the error of a plan that was ended because it is no longer needed.
var ErrSuperseded = errors.New("a newer plan is wanted")

// Plan makes the plan of one project. It handles a message, and can be repeated: if the plan is already made,
// Plan only reports it once more.
func (pl *Planner) Plan(ctx context.Context) error {
	s, err := pl.Ledger.Read(ctx, pl.Facts.Message.Run())
	if err != nil || s.Version == "" {
		return err
	}
	if s.Asked.Attempt != pl.Facts.Message.Attempt {
		return pl.writeSupersededCheck(ctx, s.Run)
	}
	switch s.Phase {
	case runs.Queued, runs.Planning:
	case runs.Planned, runs.PlanFailed: // an earlier attempt died before everything was reported
		if err := pl.Facts.Look(ctx); err != nil { // the check shows the requirements of the base branch
			return err
		}
		return pl.Planned(ctx, s.Run)
	default:
		if err := pl.queueFollowing(ctx, s.Run); err != nil {
			return err
		}
		return pl.Leases.Release(ctx, s.Key())
	}
	if err := pl.Facts.LookForPlan(ctx, s.Run); err != nil {
		return err
	}
	if s.Over(pl.Facts.Pull.Open) {
		// The message about the end of the pull request handles the run. If the pull request is open once more
		// by then, the handler that sees Missed makes a new plan.
		s.Asked.Missed = true
		if _, err := pl.Ledger.Save(ctx, s); err != nil {
			return err
		}
		return ledger.FoundClosed(ctx, pl.Ledger, pl.Facts.Message.Pull, pl.Facts.Pull.Merged)
	}
	q, d, err := pl.Facts.Ask(ctx, pl.Facts.Request(comment.Plan, s.Run), nil)
	if err != nil {
		return pl.recordFinalError(ctx, s, err)
	}
	if !d.Allowed() {
		return pl.recordDenial(ctx, s, d)
	}
	s, waits, err := pl.waitsForOthers(ctx, s)
	if err != nil {
		return pl.recordFinalError(ctx, s, err)
	}
	if waits {
		return nil
	}
	if stop, err := pl.Ledger.StopOf(ctx, s.Run); err != nil {
		return err
	} else if stop != nil {
		return pl.stopped(ctx, s, stop.By)
	}
	if away, err := pl.inBuild(ctx, s); away || err != nil {
		return err
	}
	if err := pl.Leases.Hold(ctx, s.Run); err != nil {
		return err
	}
	s = s.To(runs.Planning)
	s.Asked.Missed = false
	s.Artifacts.Begun, s.Plan.Applies = s.NextBegun(), q.Last.CountFor(s.Pull.Number)
	if s, err = pl.Ledger.Save(ctx, s); err != nil {
		return err // a conflict: another process plans it
	}
	if err := pl.Report.PutCheck(ctx, s.Run); err != nil {
		return err
	}
	q.Run = s.Run
	err = pl.make(ctx, s, q)
	if errors.Is(err, ErrSuperseded) {
		if s, err = pl.Ledger.Read(ctx, s.Key()); err != nil {
			return err
		}
		return errors.Join(pl.writeSupersededCheck(ctx, s.Run), pl.Leases.Release(ctx, s.Key()))
	}
	if stopped := new(stoppedError); errors.As(err, &stopped) {
		return pl.stopped(ctx, stopped.run, stopped.by)
	}
	return err
}

// writeSupersededCheck writes the check of a plan that is no longer needed once more: this process, or one that
// has died, may have overwritten the finished check. r is the present run.
func (pl *Planner) writeSupersededCheck(ctx context.Context, r runs.Run) error {
	head := pl.Facts.Message.Head
	if head == r.Spec.Head {
		return pl.Report.PutCheck(ctx, r)
	}
	r.Spec.Head, r.Phase, r.Plan.Hash, r.Plan.Again = head, runs.Superseded, "", ""
	return report.EndCheck(ctx, pl.Report, r)
}

// waitsForOthers reports whether a queued run must wait for the plans of other runs. The last of these wakes
// it. After waitsForOthers has recorded the wait, it checks the other runs once more, because the last of them
// may have ended just before.
func (pl *Planner) waitsForOthers(ctx context.Context, s ledger.Versioned) (ledger.Versioned, bool, error) {
	if s.Phase != runs.Queued {
		return s, false, nil
	}
	on, err := pl.Foreseer.Waits(ctx, s.Run)
	if err != nil || len(on) == 0 {
		return s, false, err
	}
	s.Asked.After = on
	if s, err = pl.Ledger.Save(ctx, s); err != nil {
		return s, false, err
	}
	on, err = pl.Foreseer.Waits(ctx, s.Run)
	return s, len(on) > 0, err
}

// A stoppedError reports that a person has stopped a plan.
type stoppedError struct {
	run ledger.Versioned
	by  string
}

// Error implements error.
func (e *stoppedError) Error() string { return e.by + " cancelled the plan" }

// stopped records that a person has stopped the plan. by is the person's login.
func (pl *Planner) stopped(ctx context.Context, s ledger.Versioned, by string) error {
	s.End.StoppedBy = by
	return pl.recordDenial(ctx, s, admission.Refusal(reasons.WasStopped{By: by}))
}

// make makes the plan of a run in phase Planning, and stores it.
func (pl *Planner) make(ctx context.Context, s ledger.Versioned, q admission.Request) error {
	s, dir, done, no, err := pl.checkout(ctx, s)
	switch {
	case err != nil:
		return pl.recordFinalError(ctx, s, err)
	case !no.Allowed():
		return pl.recordDenial(ctx, s, no)
	}
	defer done()
	if s.Over(pl.Facts.Pull.Open) {
		return ErrSuperseded // since the plan was begun
	}
	q.Run = s.Run
	again := comment.Command{Verb: comment.Plan, Project: s.Project}
	generated, ungenerated, err := pl.Steps.Generated(ctx, s.Run, dir, again)
	if err != nil {
		return pl.recordFinalError(ctx, s, err)
	}
	if ungenerated != nil {
		why := admission.Refusal(*ungenerated).Reasons.Markdown()
		return pl.storePlan(ctx, s, generated.On(jobs.PlanResult{Report: why}), ledger.Inputs{})
	}
	if runs.Preview(s.Run) {
		return pl.preview(ctx, s, q, dir)
	}
	x, why, err := pl.prepare(ctx, &s, q, dir, again)
	if err != nil {
		return pl.recordFinalError(ctx, s, err)
	}
	if why != "" {
		return pl.recordFailure(ctx, s, why)
	}
	q, job := x.q, x.job
	in := ledger.Inputs{Whole: job.Grants.Programs()}
	if err = pl.planStore().inputs(ctx, dir, s.Run, &in); err != nil {
		return pl.failWithoutInputs(ctx, s, err)
	}
	static := in.Tree
	job.Edited = gatefacts.EditedFiles(ctx, pl.Facts)
	ran, err := pl.Steps.At(ctx, requirements.BeforePlan, s.Run, job, nil)
	if err != nil {
		return pl.recordFinalError(ctx, s, err)
	}
	result, err := pl.planWatched(ctx, s, job)
	if err != nil {
		return fmt.Errorf("plan %s: %w", s.Project, err)
	}
	if result, err = pl.Steps.After(ctx, s.Run, job, append(generated, ran...), result); err != nil {
		return pl.recordFinalError(ctx, s, err)
	}
	if err := pl.recordFilesRead(ctx, dir, s.Run, static, result); err != nil {
		return pl.failWithoutInputs(ctx, s, err)
	}
	// If in.Whole is set, the inputs already contain all files that the plan has read. They are not read once
	// more, because programs may have written files in the checkout.
	in.Read = result.Read
	if len(result.Read) > 0 && !in.Whole {
		if err = pl.planStore().inputs(ctx, dir, s.Run, &in); err != nil {
			return pl.failWithoutInputs(ctx, s, err)
		}
	}
	after, err := pl.Hooks.Run(ctx, jobs.HookCall{Event: endpoints.AfterPlan, Run: s.Run, Failed: result.Plan == nil, Counts: result.Counts, State: result.State})
	if err != nil {
		return pl.recordFinalError(ctx, s, err)
	}
	if result.Plan == nil {
		s.Plan.Failure = &x.failure
	}
	result.Report = reasons.Hooks(append(x.before, after...)) + placed(s.Run, result, *q.Placing).Above(result.Report)
	if no := q.Placing.DestroysFormer(runs.Run{ID: runs.ID{Project: s.Project}, Plan: runs.Plan{PlanSummary: comment.PlanSummary{Counts: result.Counts}}}); no != nil {
		s.Plan.Failure = &x.failure // the plan is made again once the state changes
		return pl.storePlan(ctx, s, jobs.PlanResult{Report: reasons.List{no}.Markdown() + "\n\n" + result.Report, Full: result.Full}, in)
	}
	if result.Plan != nil && !s.Spec.Removed {
		if err := gatefacts.RecordLineage(ctx, pl.Facts, q, result.State.Lineage); err != nil {
			return err
		}
	}
	return pl.storePlan(ctx, s, result, in, job.Foreseen...)
}

// prepared has what a plan needs besides its checkout.
type prepared struct {
	q       admission.Request // as the gate has decided about it
	job     jobs.Job
	before  []reasons.Hooked
	failure runs.Failure // recorded if the plan fails
}

// prepare asks the gate and the hooks before the plan, and completes the job. why is the reason, in Markdown, if the plan must not or
// cannot be made. again is the command to plan again.
func (pl *Planner) prepare(ctx context.Context, s *ledger.Versioned, q admission.Request, dir string, again comment.Command) (x prepared, why string, err error) {
	place := func(ctx context.Context, q *admission.Request) (err error) {
		x.job, q.Unusable, err = pl.Facts.Job(ctx, q, dir)
		return err
	}
	q, d, err := pl.Facts.Ask(ctx, q, gatefacts.Sources{admission.StatePlace: place})
	switch {
	case err != nil:
		return x, "", err
	case q.Unusable != "":
		return x, markdown.Code(q.Unusable), nil
	case !d.Allowed():
		return x, d.Reasons.Markdown(), nil
	}
	x.q = q
	if x.before, err = pl.Hooks.Run(ctx, jobs.HookCall{Event: endpoints.BeforePlan, Run: s.Run}); err != nil {
		return x, "", err
	}
	if d := integrations.HookRefusal(x.before, again); !d.Allowed() {
		return x, d.Reasons.Markdown(), nil
	}
	if x.failure, err = pl.Foreseer.Complete(ctx, s.Run, &x.job); err != nil {
		return x, "", err
	}
	if s.Plan.Reads, err = pl.Foreseer.Reads(ctx, s.Run); err != nil {
		return x, "", err
	}
	s.Address.Owner = q.Placing.Owner
	s.Plan.Deploys = x.job.Environment.GitHub()
	return x, "", pl.recountApplies(ctx, s, x.job.State.String(), *q.Placing)
}

// checkout checks out the commit of a plan. If the trial merge no longer exists on GitHub, it uses the present
// one, which the gate may refuse (no).
func (pl *Planner) checkout(ctx context.Context, s ledger.Versioned) (_ ledger.Versioned, dir string, done func(), no admission.Decision, err error) {
	dir, done, err = pl.Facts.Checkout(ctx, s.Spec.Merge)
	if errors.Is(err, github.ErrNotFound) {
		if s, no, err = pl.renewMerge(ctx, s); err == nil && !no.Allowed() && !s.Over(pl.Facts.Pull.Open) {
			return s, "", nil, no, nil
		}
		if err == nil {
			dir, done, err = pl.Facts.Checkout(ctx, s.Spec.Merge)
		}
	}
	if errors.Is(err, github.ErrNotFound) {
		return s, "", nil, admission.Refusal(reasons.CommitGone{Problem: err.Error()}), nil
	}
	return s, dir, done, admission.Decision{}, err
}

// recordFilesRead records the files that a plan of the whole project has read, besides its own files, which are
// in static. From then on, a change of these files counts as a change of the project. If the plan has read no
// such files, that is recorded only if Lockstep would otherwise guess.
func (pl *Planner) recordFilesRead(ctx context.Context, dir string, r runs.Run, static project.Tree, result jobs.PlanResult) error {
	if result.Plan == nil || r.Spec.Removed || !r.Spec.Options.IsZero() {
		return nil
	}
	beside := slices.DeleteFunc(slices.Clone(result.Read), func(name string) bool { _, own := static[name]; return own || name == r.Spec.Dir })
	if len(beside) == 0 && len(gatefacts.LastAsked(pl.Facts).Guesses) == 0 {
		return nil
	}
	tree, err := pl.Projects.Inputs(ctx, dir, r, jobs.Scope{Read: beside})
	if err != nil {
		return err
	}
	return ledger.PutReads(ctx, pl.Ledger, r, project.FilesRead{Read: beside, Hash: tree.Hash()})
}

// recountApplies counts once more how often the state of a run was applied, if the state has another address
// than assumed: it was not known, or differed, when the plan was begun, or the base branch had the state at
// another address. The state has not been read yet.
func (pl *Planner) recountApplies(ctx context.Context, s *ledger.Versioned, place string, p admission.Placing) error {
	was := append([]string{s.Address.Place}, ledger.OtherPlaces(s.Run)...)
	if err := ledger.Place(ctx, pl.Ledger, &s.Run, place, p, pl.Facts.Pull.Base.Ref); err != nil {
		return err
	}
	if slices.Equal(was, append([]string{s.Address.Place}, ledger.OtherPlaces(s.Run)...)) {
		return nil
	}
	last, err := pl.Facts.LastApply(ctx, s.Run)
	s.Plan.Applies = last.CountFor(s.Pull.Number)
	return err
}

// placed describes the decision about the address of a state, for the note above the plan.
func placed(r runs.Run, planned jobs.PlanResult, p admission.Placing) notes.Placed {
	out := notes.Placed{Project: r.Project, From: p.From, To: r.Address.Place, Moves: p.Moves(), Owner: p.Owner, Ignored: p.Ignored, Imposed: p.Imposed}
	if planned.State != (runs.StateID{}) && p.DestroysFormer(runs.Run{Plan: runs.Plan{PlanSummary: comment.PlanSummary{Counts: planned.Counts}}}) == nil {
		out.Former = p.Former
	}
	if planned.Plan != nil && planned.State == (runs.StateID{}) {
		out.Were = r.Address.Were
	}
	return out
}

// renewMerge gets the trial merge once more, because GitHub sometimes makes a new one and deletes the old one.
// It also asks the gate about the present pull request.
func (pl *Planner) renewMerge(ctx context.Context, s ledger.Versioned) (ledger.Versioned, admission.Decision, error) {
	merge := func(ctx context.Context, q *admission.Request) error {
		m, err := pl.Facts.TrialMerge(ctx, q)
		if err != nil {
			return err
		}
		if m.Head != s.Spec.Head {
			return fmt.Errorf("%.7s is not the head any more: %w", s.Spec.Head, ErrSuperseded)
		}
		s.Run = runs.WithTrialMerge(s.Run, m, pl.Facts.Pull.Merged)
		return nil
	}
	_, d, err := pl.Facts.Ask(ctx, pl.Facts.Request(comment.Plan, s.Run), gatefacts.Sources{admission.PresentMerge: merge})
	return s, d, err
}

// failWithoutInputs records that a plan has failed, because its inputs could not be read: without them, nobody
// could find out later whether the plan is up to date.
func (pl *Planner) failWithoutInputs(ctx context.Context, s ledger.Versioned, err error) error {
	if ctx.Err() != nil {
		return err
	}
	var dead *jobs.DeathError
	if errors.As(err, &dead) {
		return pl.recordFailure(ctx, s, dead.Markdown())
	}
	return pl.recordFailure(ctx, s, markdown.Code(err.Error()))
}

// planWatched makes the plan. It stops if the run's record shows that a newer plan is requested, or if a person
// stops the plan.
func (pl *Planner) planWatched(ctx context.Context, s ledger.Versioned, job jobs.Job) (jobs.PlanResult, error) {
	ctx, end := stopping.Watch(ctx, pl.Ledger, s.Run, pl.Poll)
	defer end()
	ctx, stop := UntilChanged(ctx, pl.Ledger, s, pl.Poll)
	defer stop()
	far := newProgress(pl, s)
	job.Progress = func(o comment.Ongoing) { far.record(ctx, o) }
	result, err := pl.Engine.Plan(ctx, job)
	far.ended(ctx, result.Plan != nil)
	made := result.Plan != nil || result.Previewed
	if errors.Is(context.Cause(ctx), ErrSuperseded) {
		return jobs.PlanResult{}, ErrSuperseded
	}
	if stop := end(); stop != nil && !made {
		return jobs.PlanResult{}, &stoppedError{s, stop.By}
	}
	return result, err
}

// UntilChanged returns a context for making a plan. It ends with [ErrSuperseded] when the record of the run has
// changed. poll is the interval between two reads of the record; 0 means 5 s. The caller must call stop when
// the work has ended.
func UntilChanged(ctx context.Context, ld ledger.Ledger, s ledger.Versioned, poll time.Duration) (work context.Context, stop func()) {
	return Until(ctx, poll, func(ctx context.Context) bool {
		now, err := ld.Read(ctx, s.Key())
		return err == nil && now.Version != s.Version
	})
}

// Until returns a context that ends with ErrSuperseded when over returns true. poll is the interval between two
// calls of over; 0 means 5 s. The caller must call stop.
func Until(ctx context.Context, poll time.Duration, over func(context.Context) bool) (work context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if poll == 0 {
		poll = 5 * time.Second
	}
	looking := context.WithoutCancel(ctx) // if the work ends otherwise, no look is needed
	done := walk.Every(looking, poll, func() {
		if over(looking) {
			cancel(ErrSuperseded)
		}
	})
	return ctx, func() {
		done()
		cancel(nil)
	}
}
