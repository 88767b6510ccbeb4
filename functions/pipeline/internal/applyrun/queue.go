package applyrun

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/evidence"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Enqueue queues the applies of the saved plans that a command selects. The replies are the
// refusals.
func (qu *ApplyQueuer) Enqueue(ctx context.Context, c comment.Command) ([]comment.Reply, error) {
	all, err := qu.Ledger.Runs(ctx, qu.Evidence.Message.Pull)
	if err != nil {
		return nil, err
	}
	known := all
	all = qu.meant(c, slices.Clone(known))
	if len(all) == 0 {
		q, err := qu.Evidence.Request(ctx, comment.Apply, runs.Run{})
		if err != nil {
			no, err := evidence.Unable(c, c.Project, err)
			return []comment.Reply{no}, err
		}
		return []comment.Reply{noneSelected(c, runs.Gate(q), known)}, nil
	}
	var replies []comment.Reply
	for _, s := range all {
		no, ok, err := qu.together(ctx, c, s)
		if err == nil && !ok {
			no, err = qu.enqueueOne(ctx, c, s)
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

// noneSelected refuses a command that selects no plan, by a decision about no run. One with names
// gets those that there are.
func noneSelected(c comment.Command, d runs.Decision, known []ledger.Versioned) comment.Reply {
	no := comment.NoneSelected{Command: c}
	for _, s := range known {
		if s.Phase != runs.Dropped && s.Phase != runs.Superseded {
			no.Projects = append(no.Projects, s.Project)
		}
	}
	if runs.Has[comment.NoPlan](d) && len(d.Reasons) == 1 && !c.Everything() && len(no.Projects) > 0 {
		return evidence.Refused(c, "", runs.Refusal(no))
	}
	return evidence.Refused(c, c.Project, d)
}

// meant picks the runs that a command selects. A command without names selects all work at the
// present head; if there is none, it selects all runs, and the gate refuses each with its reason.
func (qu *ApplyQueuer) meant(c comment.Command, all []ledger.Versioned) []ledger.Versioned {
	all = slices.DeleteFunc(all, func(s ledger.Versioned) bool {
		return s.Phase == runs.Dropped || s.Phase == runs.Superseded || !s.Meant(c)
	})
	if named := slices.DeleteFunc(slices.Clone(all), func(s ledger.Versioned) bool { return c.Plan == "" || !strings.HasPrefix(s.PlanHash, c.Plan) }); len(named) > 0 {
		return named
	}
	c.Plan = "" // no run has this plan: each is refused with the name of its own
	if !c.Everything() {
		return all
	}
	for _, better := range []func(ledger.Versioned) bool{
		func(s ledger.Versioned) bool { return s.Head == qu.Evidence.Pull.Head.SHA },
		func(s ledger.Versioned) bool {
			return (s.Phase == runs.Planned || s.Phase == runs.Stopped) && s.Applyable || s.Phase.UnderWay() || s.ApplyFor == qu.Evidence.Message.ID || s.PlanFor == qu.Evidence.Message.ID
		},
	} {
		if slices.ContainsFunc(all, better) {
			all = slices.DeleteFunc(all, func(s ledger.Versioned) bool { return !better(s) })
		}
	}
	return all
}

// enqueueOne queues the apply of one saved plan if the gate allows it now; it will be asked again
// before the first change. A reply that is not nil is the refusal.
func (qu *ApplyQueuer) enqueueOne(ctx context.Context, c comment.Command, s ledger.Versioned) (comment.Reply, error) {
	if s.ApplyFor != qu.Evidence.Message.ID {
		d, err := qu.mayQueue(ctx, c, s.Run)
		if err != nil {
			return evidence.Unable(c, s.Project, err)
		}
		if !d.Allowed() {
			return evidence.Refused(c, s.Project, d), nil
		}
		s = s.To(runs.ApplyQueued)
		s.Try++
		s.ApplyFor, s.Actor, s.Answer = qu.Evidence.Message.ID, qu.Evidence.Message.Actor, cmp.Or(report.AnswerTo(qu.Evidence.Message), s.Answer)
		if s, err = qu.Ledger.Save(ctx, s); err != nil {
			return nil, err
		}
	}
	if s.Phase != runs.ApplyQueued {
		return nil, nil // queued by an earlier try of this message, and under way
	}
	if err := qu.Report.Reply(ctx, s.Answer, report.ApplyReply(s.Run, comment.Pending{Project: s.Project, Verb: comment.Apply})); err != nil {
		return nil, err
	}
	if err := qu.Report.PutCheck(ctx, s.Run); err != nil {
		return nil, err
	}
	return nil, pipeline.Send(ctx, qu.Queue, qu.Evidence.Message.Pull, pipeline.Message{Kind: pipeline.ToApply, Target: s.Target(), Attempt: s.Try, Actor: s.Actor, Answer: s.Answer}, s.Plain(), s.Try)
}

// mayQueue asks the gate about the apply of a plan. Our check run on GitHub is read last, if
// nothing else speaks against it.
func (qu *ApplyQueuer) mayQueue(ctx context.Context, c comment.Command, r runs.Run) (runs.Decision, error) {
	q, err := qu.Evidence.Request(ctx, comment.Apply, r)
	if err != nil {
		return runs.Decision{}, err
	}
	q.Named = c.Plan
	if d := runs.Gate(q); !d.Allowed() {
		return d, nil
	}
	err = qu.Evidence.CompareShown(ctx, &q)
	return runs.Gate(q), err
}
