package applyrun

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Enqueue queues the applies of the saved plans that a command selects. The replies are the
// refusals.
func (qu *ApplyQueuer) Enqueue(ctx context.Context, c comment.Command) ([]comment.Reply, error) {
	all, err := qu.Ledger.Runs(ctx, qu.Facts.Message.Pull)
	if err != nil {
		return nil, err
	}
	known := all
	all = qu.meant(c, slices.Clone(known))
	if len(all) == 0 {
		q, err := qu.Facts.Request(ctx, comment.Apply, runs.Run{})
		if err != nil {
			no, err := gatefacts.Unable(c, c.Project, err)
			return []comment.Reply{no}, err
		}
		d := admission.Decide(q)
		if !admission.Has[reasons.NoPlan](d) { // who may not ask is told nothing of the runs
			return []comment.Reply{gatefacts.Refused(c, c.Project, d)}, nil
		}
		if no := gatefacts.Gone(c, known, qu.Facts.Pull.Head.SHA); no != nil {
			back, err := gatefacts.Back(ctx, qu.Facts, c, known)
			if back {
				no = reasons.NoPlan{Merged: qu.Facts.Pull.Merged}
			}
			if err != nil {
				no, err := gatefacts.Unable(c, c.Project, err)
				return []comment.Reply{no}, err
			}
			return []comment.Reply{gatefacts.Refused(c, c.Project, admission.Refusal(no))}, nil
		}
		return gatefacts.Planless(ctx, qu.Facts, c, known)
	}
	if left(c, known) && !slices.ContainsFunc(all, func(s ledger.Versioned) bool { return !done(s.Run) }) {
		return gatefacts.Planless(ctx, qu.Facts, c, known)
	}
	if err := qu.sort(ctx, all); err != nil {
		no, err := gatefacts.Unable(c, c.Project, err)
		return []comment.Reply{no}, err
	}
	var replies []comment.Reply
	for _, s := range all {
		if s.Spec.Removed && c.Plan == "" && !runs.NamedBy(s.Run, c) {
			no, err := qu.notAlone(ctx, c, s.Run)
			if err != nil {
				return nil, err
			}
			replies = append(replies, no)
			continue
		}
		no, ok, err := qu.withPlan(ctx, c, s)
		if err == nil && !ok {
			no, err = qu.enqueueOne(ctx, c, s, false)
		}
		if err != nil {
			return nil, err
		}
		if no != nil {
			replies = append(replies, no)
		}
	}
	return replies, nil
}

// notAlone refuses an apply of the plan of a removed project by a command that is for others as well. An apply of its own is
// the remedy only where the gate would allow that, now or once the plan is made.
func (qu *ApplyQueuer) notAlone(ctx context.Context, c comment.Command, r runs.Run) (comment.Reply, error) {
	d, err := qu.mayQueue(ctx, c, r, false)
	if err != nil {
		return gatefacts.Unable(c, runs.Label(r), err)
	}
	if _, waits := d.Waits(); d.Allowed() || waits || only[reasons.BeingPlanned](d) {
		d = admission.Refusal(reasons.OwnApply{Project: r.Project, Workspace: runs.Status(r).Workspace, Part: !runs.PlansEverything(r)})
	}
	return gatefacts.Refused(c, runs.Label(r), d), nil
}

// only reports whether a decision has reasons of one type, and no others.
func only[R reasons.Reason](d admission.Decision) bool {
	return !d.Allowed() && !slices.ContainsFunc(d.Reasons, func(r reasons.Reason) bool { _, is := r.(R); return !is })
}

// meant picks the runs that a command selects. A command without names selects all work at the
// present head; if there is none, it selects all runs, and the gate refuses each with its reason.
func (qu *ApplyQueuer) meant(c comment.Command, all []ledger.Versioned) []ledger.Versioned {
	all = slices.DeleteFunc(all, func(s ledger.Versioned) bool {
		return s.Phase == runs.Dropped || s.Phase == runs.Superseded || !s.SelectedBy(c) && !qu.meantAbove(c, s.Run)
	})
	if named := slices.DeleteFunc(slices.Clone(all), func(s ledger.Versioned) bool { return c.Plan == "" || !strings.HasPrefix(s.Plan.Hash, c.Plan) }); len(named) > 0 {
		return named
	}
	c.Plan = "" // no run has this plan: each is refused with the name of its own
	if !c.Everything() {
		return all
	}
	for _, better := range []func(ledger.Versioned) bool{
		func(s ledger.Versioned) bool {
			return s.Spec.Head == qu.Facts.Pull.Head.SHA || runs.QueuedBy(s.Run, qu.Facts.Message.ID)
		},
		func(s ledger.Versioned) bool { return !qu.Facts.Pull.Merged || !done(s.Run) },
		func(s ledger.Versioned) bool {
			return (s.Phase == runs.Planned || s.Phase == runs.Stopped) && s.Plan.Applyable || s.Phase.UnderWay() || s.Asked.ApplyFor == qu.Facts.Message.ID || s.Asked.PlanFor == qu.Facts.Message.ID
		},
	} {
		if slices.ContainsFunc(all, better) {
			all = slices.DeleteFunc(all, func(s ledger.Versioned) bool { return !better(s) })
		}
	}
	return all
}

// meantAbove reports whether a command with --failed is for a run that had failed when a line above it asked for its plan.
func (qu *ApplyQueuer) meantAbove(c comment.Command, r runs.Run) bool {
	m := qu.Facts.Message
	again := r.Asked.PlanFor == m.ID && r.Asked.PlanLine < len(m.Lines) && m.Lines[r.Asked.PlanLine].Command.AsPlan().Failed
	c.Failed = false
	return again && r.SelectedBy(c)
}

// done reports whether nothing of a run is left to be applied.
func done(r runs.Run) bool { return r.Phase == runs.Applied && runs.Complete(r) }

// left reports whether a command without names is for runs of a merged pull request that need a new plan.
func left(c comment.Command, all []ledger.Versioned) bool {
	return c.Everything() && slices.ContainsFunc(all, func(s ledger.Versioned) bool {
		return s.Phase == runs.Dropped && s.End.Fate == runs.Merged && s.SelectedBy(comment.Command{Failed: true})
	})
}

// enqueueOne queues the apply of one saved plan if the gate allows it now; it will be asked again
// before the first change. One that has to come behind those of other projects waits for them: see
// [Waves]. A reply that is not nil is the refusal.
func (qu *ApplyQueuer) enqueueOne(ctx context.Context, c comment.Command, s ledger.Versioned, together bool) (comment.Reply, error) {
	m := qu.Facts.Message
	if s.Asked.ApplyFor != m.ID && !(s.Waiting() && s.Asked.Waits.For == m.ID) {
		d, err := qu.mayQueue(ctx, c, s.Run, together)
		if err != nil {
			return gatefacts.Unable(c, runs.Label(s.Run), err)
		}
		answer := cmp.Or(report.AnswerTo(m), s.Asked.Answer)
		on, waits := d.Waits()
		held, after, late := d.Held()
		switch {
		case late:
			if err := qu.Report.Reply(ctx, answer, report.ApplyReply(s.Run, gatefacts.Refused(c, s.Project, held))); err != nil {
				return nil, err
			}
			s.Run = s.WithWaiting(runs.Waiting{For: m.ID, By: m.Actor, Answer: answer, Plan: s.Plan.Hash, On: after})
			s.Asked.Late = true
		case waits:
			s.Run = s.WithWaiting(runs.Waiting{For: m.ID, By: m.Actor, Answer: answer, Plan: s.Plan.Hash, On: on})
		case !d.Allowed():
			return gatefacts.Refused(c, runs.Label(s.Run), d), nil
		default:
			if answer != s.Asked.Answer && s.Asked.Waits == nil { // who wanted the plan applied at once is told that another one has it applied
				if err := qu.Report.Unfollow(ctx, s.Run, reasons.BeingApplied{By: m.Actor, Verb: comment.Apply}); err != nil {
					return nil, err
				}
			}
			if s.Asked.Try > 0 {
				if err := qu.Tell(ctx); err != nil {
					return nil, err
				}
			}
			s = s.To(runs.ApplyQueued)
			s.Asked.Into = qu.Facts.Pull.Base.Ref
			s.Asked.Try++
			s.Asked.ApplyFor, s.Asked.By, s.Asked.Answer = m.ID, m.Actor, answer
		}
		if s, err = qu.Ledger.Save(ctx, s); err != nil {
			return nil, err
		}
	}
	switch {
	case s.Waiting():
		return nil, qu.waits(ctx, s.Run)
	case s.Phase == runs.ApplyQueued:
		return nil, qu.announce(ctx, s.Run)
	}
	return nil, nil // queued by an earlier try of this message, and under way
}

// announce reports that an apply is queued, and sends its message.
func (qu *ApplyQueuer) announce(ctx context.Context, r runs.Run) error {
	if err := qu.Ledger.Join(ctx, r); err != nil {
		return err
	}
	ahead, err := qu.Report.Ahead(ctx, r)
	if err != nil {
		return err
	}
	if err := qu.Report.Reply(ctx, r.Asked.Answer, report.ApplyReply(r, comment.Pending{Project: runs.Label(r), Verb: comment.Apply, Ahead: ahead})); err != nil {
		return err
	}
	if err := qu.Report.PutCheck(ctx, r); err != nil {
		return err
	}
	return pipeline.Send(ctx, qu.Queue, qu.Facts.Message.Pull, pipeline.Message{Kind: pipeline.ToApply, Target: r.Target(), Attempt: r.Asked.Try, Actor: r.Asked.By, Answer: r.Asked.Answer}, r.MessageName(), r.Asked.Try)
}

// mayLand asks the gate about an apply of a merge that waits.
func (qu *ApplyQueuer) mayLand(ctx context.Context, r runs.Run) (admission.Decision, error) {
	q, err := gatefacts.Landing(ctx, qu.Facts, r)
	if err != nil {
		return admission.Decision{}, err
	}
	if d := admission.Decide(q); !d.Allowed() {
		return d, nil
	}
	err = qu.Facts.CompareShown(ctx, &q)
	return admission.Decide(q), err
}

// mayQueue asks the gate about the apply of a plan. Our check run on GitHub is read last, if
// nothing else speaks against it. together is set if the comment has asked for the plan as well.
func (qu *ApplyQueuer) mayQueue(ctx context.Context, c comment.Command, r runs.Run, together bool) (admission.Decision, error) {
	q, err := qu.Facts.RequestNamed(ctx, comment.Apply, c.Plan, r)
	if err == nil && together {
		q.Together = true
		q.ApplyUnseen, err = gatefacts.ApplyUnseen(ctx, qu.Facts)
	}
	if err != nil {
		return admission.Decision{}, err
	}
	d := admission.Decide(q)
	if _, waits := d.Waits(); !d.Allowed() && !waits {
		return onceMerged(q, d), nil
	}
	err = qu.Facts.CompareShown(ctx, &q)
	return admission.Decide(q), err
}

// onceMerged is a decision about an apply that lacks requirements, with the reason that it comes after the merge all the same, where the
// base branch has the state under another name: its turn alone would find that.
func onceMerged(q admission.Request, d admission.Decision) admission.Decision {
	if !q.Pull.Open || q.Run.Standing() != comment.OnceMerged {
		return d
	}
	for i, r := range d.Reasons {
		if no, is := r.(reasons.Required); is {
			no.Later = true
			d.Reasons[i] = no
			d.Reasons = append(d.Reasons, reasons.PlaceRenamed{Project: q.Run.Project, Owner: q.Run.Address.Owner})
		}
	}
	return d
}
