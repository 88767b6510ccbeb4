package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// AnswerTo returns the name of the answer to a message; "" if the message gets no answer.
func AnswerTo(m pipeline.Message) string {
	switch m.Kind {
	case pipeline.Commanded:
		if m.Comment == 0 {
			return ledger.RerunAnswer + "-" + m.ID
		}
		return strconv.FormatInt(m.Comment, 10)
	case pipeline.Closed, pipeline.Landed:
		return ledger.MergeAnswer
	}
	if m.Comment != 0 { // from another version
		return strconv.FormatInt(m.Comment, 10)
	}
	return ""
}

// NewReply converts a reply to the form in which an answer's record has it.
func NewReply(id string, r comment.Reply) ledger.Reply {
	data, err := comment.MarshalReply(r)
	if err != nil {
		panic(fmt.Sprintf("pipeline: %v", err))
	}
	return ledger.Reply{ID: id, Data: data}
}

// PlanReply and ApplyReply return replies about the run's present plan and apply. A later reply about the same
// plan or apply replaces them.
func PlanReply(r runs.Run, reply comment.Reply) ledger.Reply {
	return NewReply(ledger.PlanReplyID(r.Target(), r.Asked.Attempt), reply)
}

func ApplyReply(r runs.Run, reply comment.Reply) ledger.Reply {
	return NewReply(fmt.Sprintf("apply %s %d", r.Target(), r.Asked.Try), reply)
}

// NextApply is like [ApplyReply], for an apply that was requested together with the run's plan and is not
// queued yet.
func NextApply(r runs.Run, reply comment.Reply) ledger.Reply {
	r.Asked.Try = r.Asked.ThenApply
	return ApplyReply(r, reply)
}

// PlanOutcome returns the reply for the user who waits for a plan: it is made, or it has failed.
func PlanOutcome(r runs.Run) ledger.Reply {
	if r.Phase == runs.Planned {
		p := PlanReply(r, runs.Status(r).Made())
		if !r.Spec.Shared.IsZero() && !r.Asked.Quiet {
			p.Body = r.Report()
		}
		return p
	}
	p := PlanReply(r, comment.Failed{Project: runs.Label(r), Verb: comment.Plan, Kept: r.Kept != nil})
	p.Body = r.Report()
	return p
}

// ApplyOutcome returns the reply for the user who waits for an apply: it is done, or it has failed.
func ApplyOutcome(r runs.Run) ledger.Reply {
	p := ApplyReply(r, comment.Done{Project: runs.Label(r), Counts: r.Apply.Done, Settled: r.Plan.Settled, Hooks: r.Apply.Hooks})
	if r.Phase == runs.ApplyFailed {
		failed := comment.Failed{Project: runs.Label(r), Verb: comment.Apply, Counts: r.Apply.Done, Remaining: r.Apply.Remaining, Lost: r.Apply.Lost, Settled: r.Plan.Settled, Hooks: r.Apply.Hooks}
		if r.Apply.Lost {
			failed.Unlock = comment.Command{Verb: comment.Unlock, Project: r.Project, Workspace: runs.Status(r).Workspace}
		}
		p = ApplyReply(r, failed)
	}
	p.Body = r.Result()
	return p
}

// StoppedApply returns the reply for the user who waits for an apply that was stopped.
func StoppedApply(r runs.Run, closed bool) ledger.Reply {
	p := ApplyReply(r, comment.StoppedApply{Project: runs.Label(r), By: r.End.StoppedBy, Progress: r.Apply.Progress, Closed: closed, Hooks: r.Apply.Hooks})
	p.Body = r.Result()
	return p
}

// Announce adds the result of a plan or an apply to the answer that waits for it, unless the answer already has
// a result. Call it before a run changes its phase: the process with the result may have died before it
// reported, and the next attempt would find the run in another phase. Call it before the check of a plan is
// written, because an apply needs that check.
func (rp *Reporter) Announce(ctx context.Context, r runs.Run) error {
	var made ledger.Reply
	switch {
	case r.Asked.Answer == "":
		return nil
	case r.Phase == runs.Planned || r.Phase == runs.PlanFailed:
		made = PlanOutcome(r)
	case r.Phase == runs.Applied || r.Phase == runs.ApplyFailed:
		made = ApplyOutcome(r)
	case r.Phase == runs.Stopped:
		made = StoppedApply(r, r.Over(rp.Facts.Pull.Open))
	default:
		return nil
	}
	return rp.ChangeAnswer(ctx, r.Asked.Answer, func(a *ledger.Answer) {
		for i, x := range a.Replies {
			if x.ID == made.ID && x.Pending() {
				a.Replies[i], a.Synced = made, false
			}
		}
	})
}

// PlanNotMade returns the replies for a plan that will not be made: one about the plan and, if an apply was
// requested together with it, one about the apply.
func PlanNotMade(r runs.Run, reply comment.Reply, why reasons.Reason) []ledger.Reply {
	return append([]ledger.Reply{PlanReply(r, reply)}, waitingApplyReply(r, why)...)
}

// waitingApplyReply returns the reply of [Reporter.AnswerWaitingApply]; nil if nobody waits.
func waitingApplyReply(r runs.Run, why reasons.Reason) []ledger.Reply {
	if r.Asked.ThenApply != r.Asked.Try+1 {
		return nil
	}
	return []ledger.Reply{NextApply(r, comment.Refused{Command: comment.Command{Verb: comment.Apply}, Project: runs.Label(r), Reasons: reasons.List{why}})}
}

// AnswerWaitingApply tells the user who waits for an apply that it will not be queued, because the run changes.
// why is the reason. The apply was requested together with the run's plan, or waits for other projects.
func (rp *Reporter) AnswerWaitingApply(ctx context.Context, r runs.Run, why reasons.Reason) error {
	if r.Waiting() && r.Asked.Late {
		return nil // its refusal was reported
	}
	name := r.Asked.Answer
	if r.Waiting() {
		name = r.Asked.Waits.Answer
	}
	return rp.Reply(ctx, name, waitingApplyReply(r, why)...)
}

// Reply adds replies to an answer. A reply replaces an earlier one with the same ID, but a pending reply never
// replaces a result. If name is "", there is no answer, and Reply does nothing.
func (rp *Reporter) Reply(ctx context.Context, name string, parts ...ledger.Reply) error {
	if name == "" || len(parts) == 0 {
		return nil
	}
	return rp.ChangeAnswer(ctx, name, func(a *ledger.Answer) {
		for _, p := range parts {
			i := slices.IndexFunc(a.Replies, func(x ledger.Reply) bool { return x.ID == p.ID })
			switch {
			case i < 0:
				a.Replies = append(a.Replies, p)
			case p.Pending() && !a.Replies[i].Pending():
				continue
			default:
				a.Replies[i] = p
			}
			a.Synced = false
		}
	})
}

// Answer replaces all replies of an answer.
func (rp *Reporter) Answer(ctx context.Context, name string, replies ...comment.Reply) error {
	var parts []ledger.Reply
	for i, r := range replies {
		parts = append(parts, NewReply(strconv.Itoa(i), r))
	}
	return rp.ChangeAnswer(ctx, name, func(a *ledger.Answer) {
		if !slices.EqualFunc(a.Replies, parts, func(x, y ledger.Reply) bool { return x.ID == y.ID && string(x.Data) == string(y.Data) }) {
			a.Replies, a.Synced = parts, false
		}
	})
}

// ChangeAnswer changes the record of an answer, or creates it.
func (rp *Reporter) ChangeAnswer(ctx context.Context, name string, change func(*ledger.Answer)) error {
	p := rp.Facts.Message.Pull
	return ledger.Edit(ctx, rp.Ledger, ledger.AnswerDir(p)+"/"+name, func(a *ledger.Answer) *ledger.Answer {
		a = cmp.Or(a, &ledger.Answer{Pull: p, Name: name})
		change(a)
		return a
	})
}

// answers returns the answers of the pull request.
func (rp *Reporter) answers(ctx context.Context) ([]ledger.Answer, error) {
	return ledger.List[ledger.Answer](ctx, rp.Ledger, ledger.AnswerDir(rp.Facts.Message.Pull))
}
