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

// Enqueue queues the applies of the saved plans that a command selects. It returns replies for those that are
// refused.
func (qu *ApplyQueuer) Enqueue(ctx context.Context, c comment.Command) ([]comment.Reply, error) {
	all, err := qu.Ledger.Runs(ctx, qu.Facts.Message.Pull)
	if err != nil {
		return nil, err
	}
	known := all
	all = qu.selected(c, slices.Clone(known))
	if len(all) == 0 {
		_, d, err := qu.Facts.Ask(ctx, qu.Facts.Request(comment.Apply, runs.Run{}), nil)
		if err != nil {
			no, err := gatefacts.FinalReply(c, c.Project, err)
			return []comment.Reply{no}, err
		}
		if !admission.Has[reasons.NoPlan](d) { // somebody who may not ask learns nothing about the runs
			return []comment.Reply{gatefacts.Refused(c, c.Project, d)}, nil
		}
		if no := gatefacts.WhyRemovedByBase(c, known, qu.Facts.Pull.Head.SHA); no != nil {
			back, err := gatefacts.HasAgain(ctx, qu.Facts, c, known)
			if back {
				no = reasons.NoPlan{Merged: qu.Facts.Pull.Merged}
			}
			if err != nil {
				no, err := gatefacts.FinalReply(c, c.Project, err)
				return []comment.Reply{no}, err
			}
			return []comment.Reply{gatefacts.Refused(c, c.Project, admission.Refusal(no))}, nil
		}
		return gatefacts.RepliesWithoutPlan(ctx, qu.Facts, c, known)
	}
	if leftByMerge(c, known) && !slices.ContainsFunc(all, func(s ledger.Versioned) bool { return !done(s.Run) }) {
		return gatefacts.RepliesWithoutPlan(ctx, qu.Facts, c, known)
	}
	if err := qu.sort(ctx, all); err != nil {
		no, err := gatefacts.FinalReply(c, c.Project, err)
		return []comment.Reply{no}, err
	}
	var replies []comment.Reply
	for _, s := range all {
		if s.Spec.Removed && c.Plan == "" && !runs.NamedBy(s.Run, c) {
			no, err := qu.refuseTogether(ctx, c, s.Run)
			if err != nil {
				return nil, err
			}
			replies = append(replies, no)
			continue
		}
		no, ok, err := qu.applyWithPlan(ctx, c, s)
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

// refuseTogether refuses to apply the plan of a removed project, if the command is also for other projects. It
// advises a separate command only if the gate would allow that command, now or after the plan is made.
func (qu *ApplyQueuer) refuseTogether(ctx context.Context, c comment.Command, r runs.Run) (comment.Reply, error) {
	d, err := qu.mayQueue(ctx, c, r, false)
	if err != nil {
		return gatefacts.FinalReply(c, runs.Label(r), err)
	}
	if _, waits := d.WaitsForProjects(); d.Allowed() || waits || only[reasons.BeingPlanned](d) {
		d = admission.Refusal(reasons.OwnApply{Project: r.Project, Workspace: runs.Status(r).Workspace, Part: !runs.PlansEverything(r)})
	}
	return gatefacts.Refused(c, runs.Label(r), d), nil
}

// only reports whether all reasons of a refusal are of type R.
func only[R reasons.Reason](d admission.Decision) bool {
	return !d.Allowed() && !slices.ContainsFunc(d.Reasons, func(r reasons.Reason) bool { _, is := r.(R); return !is })
}

// selected returns the runs that a command selects. A command that names no project selects all runs at the
// present head that are not done. If all are done, it selects all, and the gate refuses each with its reason.
func (qu *ApplyQueuer) selected(c comment.Command, all []ledger.Versioned) []ledger.Versioned {
	all = slices.DeleteFunc(all, func(s ledger.Versioned) bool {
		return s.Phase == runs.Dropped || s.Phase == runs.Superseded || !s.SelectedBy(c) && !qu.selectedAbove(c, s.Run)
	})
	if named := slices.DeleteFunc(slices.Clone(all), func(s ledger.Versioned) bool { return c.Plan == "" || !strings.HasPrefix(s.Plan.Hash, c.Plan) }); len(named) > 0 {
		return named
	}
	c.Plan = "" // no run has this plan: each is refused with the name of its own plan
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

// selectedAbove reports whether a command with --failed is also for the run r, because r had failed when an
// earlier line of the comment requested its plan.
func (qu *ApplyQueuer) selectedAbove(c comment.Command, r runs.Run) bool {
	m := qu.Facts.Message
	again := r.Asked.PlanFor == m.ID && r.Asked.PlanLine < len(m.Lines) && m.Lines[r.Asked.PlanLine].Command.AsPlan().Failed
	c.Failed = false
	return again && r.SelectedBy(c)
}

// done reports whether a run is applied completely.
func done(r runs.Run) bool { return r.Phase == runs.Applied && runs.Complete(r) }

// leftByMerge reports whether a command names no project, and is for runs of a merged pull request that need a
// new plan.
func leftByMerge(c comment.Command, all []ledger.Versioned) bool {
	return c.Everything() && slices.ContainsFunc(all, func(s ledger.Versioned) bool {
		return s.Phase == runs.Dropped && s.End.Fate == runs.Merged && s.SelectedBy(comment.Command{Failed: true})
	})
}

// enqueueOne queues the apply of a saved plan, if the gate allows it now. Before the first change, the gate is
// asked once more. If other projects must be applied first, the apply waits for them: see [Waves]. If the apply
// is refused, the reply says so; otherwise the reply is nil.
func (qu *ApplyQueuer) enqueueOne(ctx context.Context, c comment.Command, s ledger.Versioned, together bool) (comment.Reply, error) {
	m := qu.Facts.Message
	if s.Asked.ApplyFor != m.ID && !(s.Waiting() && s.Asked.Waits.For == m.ID) {
		d, err := qu.mayQueue(ctx, c, s.Run, together)
		if err != nil {
			return gatefacts.FinalReply(c, runs.Label(s.Run), err)
		}
		answer := cmp.Or(report.AnswerTo(m), s.Asked.Answer)
		on, waits := d.WaitsForProjects()
		held, after, late := d.WaitsAfterMerge()
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
			if admission.Has[reasons.Required](d) {
				err = auditRefusal(ctx, qu.Audit, qu.Report, s.Run, d)
			}
			return gatefacts.Refused(c, runs.Label(s.Run), d), err
		default:
			if answer != s.Asked.Answer && s.Asked.Waits == nil { // the person who asked for the apply before learns that another request has it applied
				if err := qu.Report.AnswerWaitingApply(ctx, s.Run, reasons.BeingApplied{By: m.Actor, Verb: comment.Apply}); err != nil {
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
		return nil, qu.reportWaiting(ctx, s.Run)
	case s.Phase == runs.ApplyQueued:
		return nil, qu.announce(ctx, s.Run)
	}
	return nil, nil // queued by an earlier attempt at this message, and under way
}

// announce reports that an apply is queued, and sends the message for it.
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

// mayQueue asks the gate about the apply of a plan. Only if nothing else is against it, Lockstep's check run is
// read from GitHub. together is set if the comment also requests the plan.
func (qu *ApplyQueuer) mayQueue(ctx context.Context, c comment.Command, r runs.Run, together bool) (admission.Decision, error) {
	q := qu.Facts.Request(comment.Apply, r)
	q.Named, q.Together = c.Plan, together
	q, d, err := qu.Facts.Ask(ctx, q, qu.Facts.Shown())
	if err != nil {
		return d, err
	}
	return onceMerged(q, d), nil
}

// onceMerged adds a reason to a decision that requirements are not met: the base branch has the state under
// another name, so the plan can be applied only after the merge. Without this, people would learn it only when
// the requirements are met.
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
