package planrun

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/evidence"
	"github.com/lockstep-iac/lockstep/functions/pipeline/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// Enqueue asks for plans of the projects that a command means, of the merge of the
// head as it is now with the base branch as it is now. The replies say what is not
// planned, and why.
func (qu *PlanQueuer) Enqueue(ctx context.Context, c comment.Command) ([]comment.Reply, error) {
	l := ledger.Look{Pull: qu.Evidence.Message.Pull, Head: qu.Evidence.Pull.Head.SHA}
	q, err := qu.Evidence.Request(ctx, comment.Plan, runs.Run{})
	if err != nil {
		return qu.unknown(ctx, c, l, err)
	}
	if d := runs.Gate(q); !d.Allowed() {
		return qu.notLooked(ctx, c, q, d, l)
	}
	m, err := qu.Evidence.Merged(ctx, &q)
	if err != nil {
		return qu.unknown(ctx, c, l, err)
	}
	if d := runs.Gate(q); runs.Has[comment.OtherBase](d) {
		return qu.notLooked(ctx, c, q, d, l)
	}
	l.Head, l.Base, l.Merge, l.Conflict = m.Head, m.Base, m.SHA, m.Conflict
	var found []project.Project
	var replies []comment.Reply
	if m.Conflict {
		replies = append(replies, evidence.Refused(c, "", runs.Gate(q)))
	} else if found, replies, err = qu.discover(ctx, c, &l); err != nil {
		return qu.unknown(ctx, c, l, err)
	}
	if err := qu.Ledger.SaveLook(ctx, l); err != nil {
		return nil, err
	}
	if q.Entry == runs.ByPush {
		if err := qu.supersede(ctx, found); err != nil {
			return nil, err
		}
	}
	for _, p := range found {
		no, err := qu.queuePlan(ctx, c, p, l)
		if err != nil {
			return nil, err
		}
		if no != nil {
			replies = append(replies, no)
		}
	}
	return replies, nil
}

// notLooked says why nobody looks which projects the pull request has.
func (qu *PlanQueuer) notLooked(ctx context.Context, c comment.Command, q runs.Request, d runs.Decision, l ledger.Look) (replies []comment.Reply, err error) {
	no := evidence.Refused(c, "", d)
	if runs.Has[comment.OtherBase](d) {
		l.Problem = comment.Markdown(no)
	}
	if q.Entry == runs.ByPush {
		err = qu.Ledger.SaveLook(ctx, l)
	}
	return []comment.Reply{no}, err
}

// unknown says why nobody can know which projects the pull request has if err is final;
// any other error stays one.
func (qu *PlanQueuer) unknown(ctx context.Context, c comment.Command, l ledger.Look, err error) ([]comment.Reply, error) {
	no, err := evidence.Unable(c, "", err)
	if err != nil {
		return nil, err
	}
	l.Problem, l.Checked = qu.Report.Clean(comment.Markdown(no)), true
	if err := qu.Ledger.SaveLook(ctx, l); err != nil {
		return nil, err
	}
	if qu.Evidence.Message.Actor == "" {
		err = qu.supersede(ctx, nil)
	}
	return []comment.Reply{no}, err
}

// discover finds the projects that a command means in the merge that l names, and adds
// to l what there is to know of it.
func (qu *PlanQueuer) discover(ctx context.Context, c comment.Command, l *ledger.Look) ([]project.Project, []comment.Reply, error) {
	base, note, err := qu.Evidence.Settings(ctx, l.Base)
	if err != nil {
		return nil, nil, err
	}
	if note != "" {
		l.Notes = append(l.Notes, qu.Report.Clean(note))
	}
	dir, done, err := qu.Evidence.Checkout(ctx, l.Merge)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	found, reply, err := qu.choose(ctx, c, dir, l)
	for i := range found {
		found[i].Apply = base.ApplyOn(found[i])
	}
	if reply != nil {
		return found, []comment.Reply{reply}, err
	}
	return found, nil, err
}

// queuePlan asks for the plan of one project. The reply says why not, if not.
func (qu *PlanQueuer) queuePlan(ctx context.Context, c comment.Command, p project.Project, l ledger.Look) (comment.Reply, error) {
	s, err := qu.Ledger.Load(ctx, runs.Run{Pull: qu.Evidence.Message.Pull, Project: p.Name, Workspace: p.Workspace})
	if err != nil {
		return nil, err
	}
	mine := s.PlanFor == qu.Evidence.Message.ID
	if !mine {
		same := s.Head == l.Head && s.Base == l.Base && s.Phase != runs.Dropped && s.Phase != runs.Superseded
		if qu.Evidence.Message.Actor == "" && same {
			return nil, nil // an older event, or the same in other words
		}
		q, err := qu.Evidence.Request(ctx, comment.Plan, s.Run)
		if err != nil {
			return nil, err
		}
		if d := runs.Gate(q); !d.Allowed() {
			return evidence.Refused(c, p.Name, d), nil
		}
		if err := qu.abort(ctx, s.Run); err != nil {
			return nil, err
		}
		if s, err = qu.Ledger.Save(ctx, qu.next(s, p, l)); err != nil {
			return nil, err
		}
	}
	if s.Phase != runs.Queued {
		return nil, nil // of this message, and on its way
	}
	return nil, qu.announce(ctx, s.Run)
}

// next is the run, queued to be planned anew.
func (qu *PlanQueuer) next(s ledger.Versioned, p project.Project, l ledger.Look) ledger.Versioned {
	s = s.To(runs.Queued)
	s.Pull, s.Dir, s.VarFiles, s.ApplyOn = qu.Evidence.Message.Pull, p.Dir, p.VarFiles, p.Apply
	s.Head, s.Base, s.Merge = l.Head, l.Base, l.Merge
	s.Attempt++
	s.PlanFor, s.Actor, s.Answer = qu.Evidence.Message.ID, qu.Evidence.Message.Actor, report.AnswerTo(qu.Evidence.Message)
	s.State, s.Inputs, s.Counts, s.Applyable, s.Full = runs.StateID{}, "", comment.Counts{}, false, false
	s.PlanHash, s.Reported = "", ""
	s.Done, s.Remaining, s.Lost = comment.Counts{}, 0, false
	return s
}

// announce says of a run that is queued that it is, and sends the message for it.
func (qu *PlanQueuer) announce(ctx context.Context, r runs.Run) error {
	if err := qu.Report.Reply(ctx, r.Answer, report.PlanReply(r, comment.Pending{Project: r.Project, Verb: comment.Plan})); err != nil {
		return err
	}
	if err := qu.Report.PutCheck(ctx, r); err != nil {
		return err
	}
	return pipeline.Send(ctx, qu.Queue, qu.Evidence.Message.Pull, pipeline.Message{Kind: pipeline.ToPlan, Target: r.Target(), Attempt: r.Attempt, Actor: r.Actor, Answer: r.Answer}, r.Plain(), r.Attempt)
}
