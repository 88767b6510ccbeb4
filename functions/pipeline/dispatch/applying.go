package dispatch

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// apply applies one saved plan.
func (t *task) apply(ctx context.Context) error {
	s, err := t.read(ctx, t.message.Run())
	if err != nil || s.version == "" || s.Try != t.message.Attempt {
		return err
	}
	if err := t.look(ctx); err != nil {
		return err
	}
	switch s.Phase {
	case runs.ApplyQueued:
	case runs.Applying:
		e, begun, err := t.effect(ctx, s.Run)
		if err != nil {
			return err
		}
		if begun != "" {
			return t.finish(ctx, s, e)
		}
		s = s.to(runs.ApplyQueued) // we died before anything was done
	case runs.Applied, runs.ApplyFailed:
		return t.applied(ctx, s.Run)
	default:
		return t.refusedApply(ctx, s)
	}
	if err := t.hold(ctx, s.Run); err != nil {
		return err
	}
	return t.applyQueued(ctx, s)
}

// applyQueued asks the gate with everything that can be known before the state is
// locked, and if it allows it carries the plan out.
func (t *task) applyQueued(ctx context.Context, s stored) error {
	r := s.Run
	r.Phase = runs.Planned // it is this message that it waits for
	q, err := t.request(ctx, comment.Apply, r)
	if err != nil {
		return t.cannotApply(ctx, s, err)
	}
	if d := runs.Gate(q); !d.Allowed() {
		return t.refuse(ctx, s, d)
	}
	plan, err := t.Artifacts.Get(ctx, s.Plan())
	if errors.Is(err, pipeline.ErrNoArtifact) {
		q.Run.Phase = runs.New // it was deleted: there is none
		return t.refuse(ctx, s, runs.Gate(q))
	}
	if err != nil {
		return err
	}
	q.Saved = runs.HashOf(plan)
	if err := t.compareShown(ctx, &q); err != nil {
		return t.cannotApply(ctx, s, err)
	}
	if d := runs.Gate(q); !d.Allowed() {
		return t.refuse(ctx, s, d)
	}
	dir, done, err := t.compare(ctx, &q)
	if errors.Is(err, github.ErrNotFound) {
		return t.refuse(ctx, s, runs.Decision{Reasons: []runs.Reason{{Rule: runs.NotPlanned, Reason: gone(err)}}})
	}
	if err != nil {
		return t.cannotApply(ctx, s, err)
	}
	defer done()
	if d := runs.Gate(q); !d.Allowed() {
		return t.refuse(ctx, s, d)
	}
	job, problem, err := t.job(ctx, &q, dir)
	if err != nil {
		return t.cannotApply(ctx, s, err)
	}
	if problem != "" {
		return t.refuse(ctx, s, runs.Decision{Reasons: []runs.Reason{{Rule: runs.NotPlanned, Reason: comment.Reason{Text: problem}}}})
	}
	if d := runs.Gate(q); !d.Allowed() {
		return t.refuse(ctx, s, d)
	}
	if s, err = t.save(ctx, s.to(runs.Applying)); err != nil {
		return err // of two that apply it one goes on
	}
	if err := t.putCheck(ctx, s.Run); err != nil {
		return err
	}
	return t.carryOut(ctx, s, q, plan, job)
}

// compare checks out what is to be applied, as it would be now, or is, in the base
// branch, and says in q what is not as it was planned, and at which commit of the base
// branch the rights are now.
func (t *task) compare(ctx context.Context, q *runs.Request) (dir string, done func(), err error) {
	sha := t.pull.MergeSHA
	if q.Entry == runs.ByComment {
		m, err := t.merged(ctx, q)
		if err != nil {
			return "", nil, err
		}
		if !runs.Gate(*q).Allowed() {
			return "", func() {}, nil
		}
		sha, q.Run.Base = m.SHA, m.Base
		if err := t.occasion(ctx, &q.Run); err != nil {
			return "", nil, err
		}
	} else {
		q.Run.Base = sha
	}
	if dir, done, err = t.checkout(ctx, sha); err != nil {
		return "", nil, err
	}
	planned, err := t.loadInputs(ctx, q.Run)
	if errors.Is(err, errExchanged) {
		q.Kept = err.Error()
		return dir, done, nil
	}
	if err == nil {
		now, e := t.projects().Inputs(ctx, dir, q.Run, planned.scope())
		if errors.Is(e, jobs.ErrNoProject) {
			now, e = nil, nil // then all of it differs
		}
		q.Differ, q.Whole, err = planned.Tree.Diff(now), planned.Whole, e
	}
	if err != nil {
		done()
		return "", nil, err
	}
	return dir, done, nil
}

// carryOut applies a plan. The gate is asked again, by the engine, with the state
// locked and known: from then on nothing can move.
func (t *task) carryOut(ctx context.Context, s stored, q runs.Request, plan []byte, job jobs.Job) error {
	if end, ok := ctx.Deadline(); ok {
		before := t.StopBefore
		if before == 0 {
			before = pipeline.DefaultStopBefore
		}
		job.StopStarting = end.Add(-before)
	}
	var d runs.Decision
	var begun pipeline.Version
	var failed error
	outcome, err := t.Engine.Apply(ctx, job, plan, func(state runs.StateID) bool {
		q.State = &state
		if q.Last, failed = t.lastApply(ctx, s.Run); failed != nil {
			return false
		}
		if failed = t.placeAgain(ctx, &q); failed != nil {
			return false
		}
		var now stored
		if now, failed = t.read(ctx, s.Key()); failed != nil {
			return false
		}
		q.Run.PlanHash = now.PlanHash // what was read of the plan must be that, still
		if d = runs.Gate(q); !d.Allowed() {
			return false
		}
		// The note comes last, so that nothing is between it and the apply.
		begun, failed = t.begin(ctx, s.Run)
		return failed == nil
	})
	outcome.Report = t.clean(outcome.Report)
	switch {
	case failed != nil:
		return fmt.Errorf("apply %s: %w", s.Project, failed)
	case begun != "":
		if err != nil {
			outcome.Failed, outcome.Report = true, comment.Code(t.clean(err.Error()))
		}
		if outcome.Lost {
			outcome.Report = lost + "\n\n" + outcome.Report
		}
		return t.note(ctx, s, outcome, begun)
	case err != nil:
		return fmt.Errorf("apply %s: %w", s.Project, err)
	case len(outcome.Moved) > 0:
		q.Modules = outcome.Moved
		return t.refuse(ctx, s, runs.Gate(q))
	case outcome.Outdated:
		q.Outdated = true
		return t.refuse(ctx, s, runs.Gate(q))
	case outcome.Refused:
		return t.refuse(ctx, s, d)
	}
	return t.untouched(ctx, s, outcome)
}

// applied says what became of an apply, wherever somebody waits for it.
func (t *task) applied(ctx context.Context, r runs.Run) error {
	p := applyPart(r, comment.Done{Project: r.Project, Counts: r.Done})
	if r.Phase == runs.ApplyFailed {
		p = applyPart(r, comment.Failed{Project: r.Project, Verb: comment.Apply, Counts: r.Done, Remaining: r.Remaining, Lost: r.Lost})
	}
	p.Body = r.Result()
	if err := t.reply(ctx, r.Ask, p); err != nil {
		return err
	}
	// It may have been closed meanwhile, when this was not known yet.
	pull, err := t.hub.PullRequest(ctx, r.Pull.Number)
	switch {
	case err == nil && !pull.Open:
		t.pull = pull
		err = t.leave(ctx, r)
	case err == nil:
		err = t.moved(ctx, r, pull)
	}
	if err != nil && !errors.Is(err, github.ErrNotFound) {
		return err
	}
	return t.announced(ctx, r)
}

// untouched says that an apply failed before it changed anything: the plan is as good
// as before, as long as the pull request is open.
func (t *task) untouched(ctx context.Context, s stored, o jobs.Outcome) error {
	if err := t.Artifacts.Put(ctx, s.Result(), []byte(o.Report)); err != nil {
		return err
	}
	p := applyPart(s.Run, comment.Failed{Project: s.Project, Verb: comment.Apply, Untouched: true, Closed: !t.pull.Open})
	p.Body = s.Result()
	if err := t.reply(ctx, s.Ask, p); err != nil {
		return err
	}
	return t.backTo(ctx, s, runs.Planned)
}

// refuse says that a plan is not applied.
func (t *task) refuse(ctx context.Context, s stored, d runs.Decision) error {
	no := refused(comment.Command{Verb: comment.Apply}, s.Project, d)
	if err := t.reply(ctx, s.Ask, applyPart(s.Run, no)); err != nil {
		return err
	}
	next := runs.Planned
	for _, rule := range []runs.Rule{runs.HeadMoved, runs.StateMoved, runs.InputsMoved, runs.ModulesMoved, runs.EngineMoved, runs.NotPlanned, runs.Conflicts, runs.PlanExchanged, runs.PlaceMoved} {
		if d.Has(rule) {
			next = runs.Stale
		}
	}
	return t.backTo(ctx, s, next)
}

// cannotApply says that a plan is not applied if err is final; any other error stays
// one. The plan stays as it is.
func (t *task) cannotApply(ctx context.Context, s stored, err error) error {
	d, err := impossible(err)
	if err != nil {
		return err
	}
	return t.refuse(ctx, s, d)
}

// backTo moves a run back that was not applied: to what it was, or, if its pull request
// is not open any more, out of the way.
func (t *task) backTo(ctx context.Context, s stored, next runs.Phase) error {
	if !t.pull.Open {
		return t.drop(ctx, s, runs.Planned)
	}
	s, err := t.save(ctx, s.to(next))
	if err != nil {
		return err
	}
	return t.refusedApply(ctx, s)
}

// refusedApply looks after a run that came to rest without an apply. What happened to
// the pull request while it waited has found it in the way.
func (t *task) refusedApply(ctx context.Context, s stored) error {
	if s.Phase != runs.Planned && s.Phase != runs.Stale && s.Phase != runs.Dropped {
		return nil
	}
	pull, err := t.hub.PullRequest(ctx, s.Pull.Number)
	switch {
	case err == nil && !pull.Open && s.Phase != runs.Dropped:
		t.pull = pull
		return t.drop(ctx, s, s.Phase)
	case err == nil && pull.Open:
		err = t.moved(ctx, s.Run, pull)
	}
	if err != nil && !errors.Is(err, github.ErrNotFound) {
		return err
	}
	return t.announced(ctx, s.Run)
}

// moved asks for plans of a head that came while a run could not be planned, because it
// was being applied, or waited for it.
func (t *task) moved(ctx context.Context, r runs.Run, pull github.PullRequest) error {
	if pull.Head.SHA == r.Head {
		return nil
	}
	return t.send(ctx, pipeline.Message{Kind: pipeline.Pushed}, r.Plain(), r.Try, pull.Head.SHA)
}
