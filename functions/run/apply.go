package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
)

// apply applies the saved plans that a command means.
func (t *task) apply(ctx context.Context, c comment.Command) ([]comment.Reply, error) {
	runs, err := t.runs(ctx)
	if err != nil {
		return nil, err
	}
	runs = t.meant(c, runs)
	if len(runs) == 0 {
		q, err := t.request(ctx, comment.Apply, Run{})
		if err != nil {
			return nil, err
		}
		return []comment.Reply{refused(c, c.Project, Gate(q))}, nil
	}
	var replies []comment.Reply
	for _, s := range runs {
		reply, err := t.applyOne(ctx, c, s)
		if err != nil {
			return nil, err
		}
		replies = append(replies, reply)
	}
	return replies, t.status(ctx)
}

// meant picks the runs that a command is for. One that names nothing is for what is
// to be done at the present head; if that is nothing, the gate says why of each.
func (t *task) meant(c comment.Command, runs []stored) []stored {
	runs = slices.DeleteFunc(runs, func(s stored) bool {
		return s.Phase == Dropped || !means(c, s.Project, s.Dir, s.Workspace)
	})
	if c != (comment.Command{Verb: c.Verb}) {
		return runs
	}
	for _, better := range []func(stored) bool{
		func(s stored) bool { return s.Head == t.pull.Head.SHA },
		func(s stored) bool {
			return s.Phase == Planned && s.Applyable || s.Phase == Applying || s.Message == t.message.ID
		},
	} {
		if slices.ContainsFunc(runs, better) {
			runs = slices.DeleteFunc(runs, func(s stored) bool { return !better(s) })
		}
	}
	return runs
}

// applyOne applies one saved plan, if the gate allows it: once as things stand, and
// once more when the state is locked.
func (t *task) applyOne(ctx context.Context, c comment.Command, s stored) (comment.Reply, error) {
	s, broken, err := t.resume(ctx, s)
	if err != nil || broken != nil {
		return broken, err
	}
	q, err := t.request(ctx, comment.Apply, s.Run)
	if err != nil {
		return nil, err
	}
	if d := Gate(q); !d.Allowed() {
		return refused(c, s.Project, d), nil
	}
	plan, err := t.Artifacts.Get(ctx, s.artifact(s.Plan))
	if errors.Is(err, ErrNoArtifact) {
		q.Run.Phase = New // it was deleted: there is none
		return refused(c, s.Project, Gate(q)), nil
	}
	if err != nil {
		return nil, err
	}
	dir, done, err := t.checkout(ctx, s.Head)
	if err != nil {
		return nil, err
	}
	defer done()
	s = s.to(Applying)
	s.Actor, s.Message = t.message.Actor, t.message.ID
	s.Tries++
	if s, err = t.save(ctx, s); errors.Is(err, ErrConflict) {
		q.Run.Phase, q.Run.Actor = Applying, t.message.Actor
		return refused(c, s.Project, Gate(q)), nil
	} else if err != nil {
		return nil, err
	}
	return t.carryOut(ctx, c, s, q, plan, dir)
}

// applyEffect is the note that an apply was begun, each time under another key: a run
// that went back to Planned has left one, for changes that were never begun.
func (s stored) applyEffect() Effect {
	return Effect{Kind: "apply", Target: s.Project, Key: fmt.Sprintf("effect/apply/%s/%d", s.key(), s.Tries)}
}

// resume looks at a run that this message began to apply when it was handled before.
// If changes were made, or may have been, that is the outcome, told in the reply.
func (t *task) resume(ctx context.Context, s stored) (stored, comment.Reply, error) {
	if s.Message != t.message.ID || s.Phase != Applying && s.Phase != Applied && s.Phase != ApplyFailed {
		return s, nil, nil
	}
	rec, err := t.Records.Get(ctx, s.applyEffect().Key)
	if err != nil {
		return s, nil, err
	}
	if rec.Version == "" {
		s, err = t.save(ctx, s.to(Planned))
		return s, nil, err
	}
	var e Effect
	if err := json.Unmarshal(rec.Value, &e); err != nil {
		return s, nil, fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
	}
	if e.Outcome == nil {
		e.Outcome = &Outcome{Failed: true, Report: "The process that applied this plan ended before it was done. What it did is in the state, but for what was under way at that moment: look at the new plan with care."}
	}
	if s.Phase != Applying {
		return s, e.Outcome.reply(s.Project), nil
	}
	reply, err := t.finish(ctx, s, *e.Outcome)
	return s, reply, err
}

// reply tells what became of an apply.
func (o Outcome) reply(project string) comment.Reply {
	if o.Failed {
		return comment.Failed{Project: project, Verb: comment.Apply, Counts: o.Counts, Body: o.Report}
	}
	return comment.Done{Project: project, Counts: o.Counts, Body: o.Report}
}

// carryOut applies a plan. The gate is asked again, by the engine, with the state
// locked and known: from then on nothing can move.
func (t *task) carryOut(ctx context.Context, c comment.Command, s stored, q Request, plan []byte, dir string) (comment.Reply, error) {
	var d Decision
	var begun Version
	var failed error
	effect := s.applyEffect()
	outcome, err := t.Engine.Apply(ctx, t.job(s.Run, dir), plan, func(state StateID) bool {
		q.State = &state
		if q.Last, _, failed = t.lastApply(ctx, s.Run); failed != nil {
			return false
		}
		if d = Gate(q); !d.Allowed() {
			return false
		}
		// The note comes last, so that nothing is between it and the apply.
		if failed = t.status(ctx); failed == nil {
			begun, failed = t.begin(ctx, effect)
		}
		return failed == nil
	})
	outcome.Report = t.clean(outcome.Report)
	switch {
	case failed != nil:
		err = failed
	case err == nil && outcome.Failed && begun == "":
		_, err := t.save(ctx, s.to(Planned))
		return comment.Failed{Project: s.Project, Verb: comment.Apply, Untouched: true, Body: outcome.Report}, err
	case err == nil && !outcome.Refused:
		effect.Outcome = &outcome
		if err := t.end(ctx, effect, begun); err != nil {
			return nil, err
		}
		return t.finish(ctx, s, outcome)
	}
	// Nothing was done.
	next := Planned
	if d.Has(StateMoved) {
		next = Stale
	}
	if _, e := t.save(ctx, s.to(next)); e != nil {
		err = errors.Join(err, e)
	}
	if err != nil {
		return nil, fmt.Errorf("apply %s: %w", s.Project, err)
	}
	return refused(c, s.Project, d), nil
}

// finish records what became of an apply.
func (t *task) finish(ctx context.Context, s stored, o Outcome) (comment.Reply, error) {
	// Whatever else goes wrong now, this is what others must know.
	if o.State != (StateID{}) {
		l := LastApply{Number: s.Pull.Number, Head: s.Head, By: s.Actor, State: o.State}
		if err := t.remember(ctx, s.Run, l); err != nil {
			return nil, err
		}
	}
	next := Applied
	if o.Failed {
		next = ApplyFailed
	}
	s = s.to(next)
	if err := t.Artifacts.Delete(ctx, s.artifact(s.Plan)); err != nil { // it can never be applied again
		return nil, err
	}
	s.Plan = ""
	if _, err := t.save(ctx, s); err != nil {
		return nil, err
	}
	return o.reply(s.Project), nil
}

// unlock releases what earlier applies of the pull request have left locked.
func (t *task) unlock(ctx context.Context, c comment.Command) ([]comment.Reply, error) {
	runs, err := t.runs(ctx)
	if err != nil {
		return nil, err
	}
	runs = slices.DeleteFunc(runs, func(s stored) bool { return !means(c, s.Project, s.Dir, s.Workspace) })
	if len(runs) == 0 {
		return []comment.Reply{comment.Refused{Command: c, Reasons: []comment.Reason{{Text: "This pull request has no project whose state it could have locked."}}}}, nil
	}
	var replies []comment.Reply
	for _, s := range runs {
		q, err := t.request(ctx, comment.Unlock, s.Run)
		if err != nil {
			return nil, err
		}
		if d := Gate(q); !d.Allowed() {
			replies = append(replies, refused(c, s.Project, d))
			continue
		}
		dir, done, err := t.checkout(ctx, s.Head)
		if err != nil {
			return nil, err
		}
		n, err := t.Engine.Unlock(ctx, t.job(s.Run, dir))
		done()
		if err != nil {
			return nil, fmt.Errorf("unlock %s: %w", s.Project, err)
		}
		replies = append(replies, comment.Unlocked{Project: s.Project, Locks: n})
	}
	return replies, nil
}
