package dispatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/engine/walk"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// errSuperseded says that the plan which is being made is not wanted any more.
var errSuperseded = errors.New("a newer plan is wanted")

// plan plans one project.
func (t *task) plan(ctx context.Context) error {
	s, err := t.read(ctx, t.message.Run())
	if err != nil || s.version == "" || s.Attempt != t.message.Attempt {
		return err
	}
	switch s.Phase {
	case runs.Queued, runs.Planning:
	case runs.Planned, runs.PlanFailed:
		return t.planned(ctx, s.Run) // we died before all of it was said
	default:
		return t.release(ctx, s.Key())
	}
	if err := t.look(ctx); err != nil {
		return err
	}
	q, err := t.request(ctx, comment.Plan, s.Run)
	if err != nil {
		return t.cannotPlan(ctx, s, err)
	}
	if d := runs.Gate(q); !d.Allowed() {
		return t.denied(ctx, s, d)
	}
	if err := t.hold(ctx, s.Run); err != nil {
		return err
	}
	s = s.to(runs.Planning)
	s.Begun++
	if s, err = t.save(ctx, s); err != nil {
		return err // of two that plan it one goes on
	}
	if err := t.putCheck(ctx, s.Run); err != nil {
		return err
	}
	q.Run = s.Run
	err = t.make(ctx, s, q)
	if errors.Is(err, errSuperseded) {
		return t.release(ctx, s.Key())
	}
	return err
}

// make makes the plan, and keeps it.
func (t *task) make(ctx context.Context, s stored, q runs.Request) error {
	dir, done, err := t.checkout(ctx, s.Merge)
	if errors.Is(err, github.ErrNotFound) {
		var d runs.Decision
		if s, d, err = t.renew(ctx, s); err == nil && !d.Allowed() {
			return t.denied(ctx, s, d)
		}
		if err == nil {
			dir, done, err = t.checkout(ctx, s.Merge)
		}
	}
	if errors.Is(err, github.ErrNotFound) {
		return t.denied(ctx, s, runs.Decision{Reasons: []runs.Reason{{Rule: runs.NotPlanned, Reason: gone(err)}}})
	}
	if err != nil {
		return t.cannotPlan(ctx, s, err)
	}
	defer done()
	q.Run = s.Run
	job, problem, err := t.job(ctx, &q, dir)
	if err != nil {
		return t.cannotPlan(ctx, s, err)
	}
	if problem != "" {
		return t.notPlanned(ctx, s, problem)
	}
	if d := runs.Gate(q); !d.Allowed() {
		return t.denied(ctx, s, d)
	}
	s.Place = job.State.String()
	in := inputs{Whole: job.Grants.Programs()}
	if in.Tree, err = t.projects().Inputs(ctx, dir, s.Run, in.scope()); err != nil {
		return t.noInputs(ctx, s, err)
	}
	result, err := t.watched(ctx, s, job)
	if err != nil {
		return fmt.Errorf("plan %s: %w", s.Project, err)
	}
	// Where the whole checkout counts, what is read is in it, and a program may have
	// written there since.
	if len(result.Read) > 0 && !in.Whole {
		in.Read = result.Read
		if in.Tree, err = t.projects().Inputs(ctx, dir, s.Run, in.scope()); err != nil {
			return t.noInputs(ctx, s, err)
		}
	}
	result.Report = comment.Placed{Project: s.Project, From: q.Placing.From, To: s.Place, Moves: q.Placing.Moves(), Notes: q.Placing.Notes}.Above(result.Report)
	return t.keep(ctx, s, result, in)
}

// renew finds the merge again: GitHub makes it anew at times, and forgets the old one.
// What it says of the pull request now may speak against the plan.
func (t *task) renew(ctx context.Context, s stored) (stored, runs.Decision, error) {
	q, err := t.request(ctx, comment.Plan, s.Run)
	if err != nil {
		return s, runs.Decision{}, err
	}
	m, err := t.merged(ctx, &q)
	if err != nil {
		return s, runs.Decision{}, err
	}
	if m.Head != s.Head {
		return s, runs.Decision{}, fmt.Errorf("%.7s is not the head any more: %w", s.Head, errSuperseded)
	}
	s.Base, s.Merge = m.Base, m.SHA
	return s, runs.Gate(q), nil
}

// noInputs records that there is no plan, for nobody knows what it would depend on.
func (t *task) noInputs(ctx context.Context, s stored, err error) error {
	if ctx.Err() != nil {
		return err
	}
	var dead *jobs.DeathError
	if errors.As(err, &dead) {
		return t.notPlanned(ctx, s, dead.Markdown())
	}
	return t.notPlanned(ctx, s, comment.Code(err.Error()))
}

// watched makes the plan, and gives it up when a newer one is wanted.
func (t *task) watched(ctx context.Context, s stored, job jobs.Job) (jobs.PlanResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	poll := t.Poll
	if poll == 0 {
		poll = 5 * time.Second
	}
	stop := walk.Every(ctx, poll, func() {
		now, err := t.read(context.WithoutCancel(ctx), s.Key())
		if err == nil && now.version != s.version {
			cancel(errSuperseded)
		}
	})
	defer stop()
	result, err := t.Engine.Plan(ctx, job)
	if errors.Is(context.Cause(ctx), errSuperseded) {
		return jobs.PlanResult{}, errSuperseded
	}
	return result, err
}

// keep keeps what became of a plan, and moves the run on. What is kept first belongs to
// nobody until the run says so.
func (t *task) keep(ctx context.Context, s stored, result jobs.PlanResult, in inputs) error {
	put := func(a pipeline.Artifact, data []byte) error {
		if len(data) == 0 {
			return nil
		}
		return t.Artifacts.Put(ctx, a, data)
	}
	report := []byte(t.clean(result.Report))
	if err := errors.Join(put(s.Plan(), result.Plan), put(s.Report(), report),
		put(s.FullReport(), []byte(t.clean(result.Full))), put(s.InputsOf(), pipeline.Encode(in))); err != nil {
		return err
	}
	if err := t.sweep(ctx, s.Run, s.Begun-1); err != nil {
		return err
	}
	if result.Plan == nil {
		s = s.to(runs.PlanFailed)
	} else {
		s = s.to(runs.Planned)
		s.State, s.Inputs, s.Counts, s.Applyable = result.State, in.Tree.Hash(), result.Counts, result.Applyable
		s.PlanHash, s.Reported = runs.HashOf(result.Plan), runs.HashOf(report)
	}
	s.Full, s.Swept = result.Full != "", s.Begun-1
	if _, err := t.save(ctx, s); err != nil {
		if errors.Is(err, pipeline.ErrConflict) {
			return errors.Join(errSuperseded, t.sweepOne(ctx, s.Run))
		}
		return err
	}
	return t.planned(ctx, s.Run)
}

// sweepOne deletes what is kept of the plan that was begun last.
func (t *task) sweepOne(ctx context.Context, r runs.Run) error {
	r.Swept = r.Begun - 1
	return t.sweep(ctx, r, r.Begun)
}

// notPlanned records that there is no plan, and why, in Markdown.
func (t *task) notPlanned(ctx context.Context, s stored, why string) error {
	if s.Phase == runs.Queued {
		s.Begun++ // names the report
	}
	return t.keep(ctx, s, jobs.PlanResult{Report: why}, inputs{})
}

// denied records that there is no plan for the reasons of a decision.
func (t *task) denied(ctx context.Context, s stored, d runs.Decision) error {
	return t.notPlanned(ctx, s, comment.Markdown(refused(comment.Command{Verb: comment.Plan}, s.Project, d)))
}

// cannotPlan records that there is no plan if err is final; any other error stays one.
func (t *task) cannotPlan(ctx context.Context, s stored, err error) error {
	d, err := impossible(err)
	if err != nil {
		return err
	}
	return t.denied(ctx, s, d)
}

// planned says what became of a plan, wherever somebody waits for it.
func (t *task) planned(ctx context.Context, r runs.Run) error {
	var p Part
	if r.Phase == runs.Planned {
		p = planPart(r, comment.Planned{Project: r.Project, Counts: r.Counts})
	} else {
		p = planPart(r, comment.Failed{Project: r.Project, Verb: comment.Plan})
		p.Body = r.Report()
	}
	if err := t.reply(ctx, r.Ask, p); err != nil {
		return err
	}
	return t.announced(ctx, r)
}

// announced says that a run has come to rest.
func (t *task) announced(ctx context.Context, r runs.Run) error {
	if err := t.putCheck(ctx, r); err != nil {
		return err
	}
	if err := t.release(ctx, r.Key()); err != nil {
		return err
	}
	return t.wantTold(ctx, r)
}
