package dispatch

import (
	"context"
	"errors"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// pushed asks for plans because a pull request has a new head.
func (t *task) pushed(ctx context.Context) error {
	if err := t.look(ctx); err != nil {
		return err
	}
	if !t.pull.Open {
		return nil // an old message
	}
	if err := t.reopen(ctx); err != nil {
		return err
	}
	replies, err := t.queuePlans(ctx, comment.Command{Verb: comment.Plan})
	if err != nil {
		return err
	}
	// A fork is spoken of once; what else there is to say is in the status.
	if t.pull.Fork() {
		if err := t.answer(ctx, pushAsk, replies...); err != nil {
			return err
		}
	}
	return t.tell(ctx)
}

// queuePlans asks for plans of the projects that a command means, of the merge of the
// head as it is now with the base branch as it is now. The replies say what is not
// planned, and why.
func (t *task) queuePlans(ctx context.Context, c comment.Command) ([]comment.Reply, error) {
	l := Look{Pull: t.message.Pull, Head: t.pull.Head.SHA}
	q, err := t.request(ctx, comment.Plan, runs.Run{})
	if err != nil {
		return t.unknown(ctx, c, l, err)
	}
	if d := runs.Gate(q); !d.Allowed() {
		return t.notLooked(ctx, c, q, d, l)
	}
	m, err := t.merged(ctx, &q)
	if err != nil {
		return t.unknown(ctx, c, l, err)
	}
	if d := runs.Gate(q); d.Has(runs.OtherBase) {
		return t.notLooked(ctx, c, q, d, l)
	}
	l.Head, l.Base, l.Merge, l.Conflict = m.Head, m.Base, m.SHA, m.Conflict
	var found []project.Project
	var replies []comment.Reply
	if m.Conflict {
		replies = append(replies, refused(c, "", runs.Gate(q)))
	} else if found, replies, err = t.discover(ctx, c, &l); err != nil {
		return t.unknown(ctx, c, l, err)
	}
	if err := t.saveLook(ctx, l); err != nil {
		return nil, err
	}
	if q.Entry == runs.ByPush {
		if err := t.supersede(ctx, found); err != nil {
			return nil, err
		}
	}
	for _, p := range found {
		no, err := t.queuePlan(ctx, c, p, l)
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
func (t *task) notLooked(ctx context.Context, c comment.Command, q runs.Request, d runs.Decision, l Look) (replies []comment.Reply, err error) {
	no := refused(c, "", d)
	if d.Has(runs.OtherBase) {
		l.Problem = comment.Markdown(no)
	}
	if q.Entry == runs.ByPush {
		err = t.saveLook(ctx, l)
	}
	return []comment.Reply{no}, err
}

// unknown says why nobody can know which projects the pull request has if err is final;
// any other error stays one.
func (t *task) unknown(ctx context.Context, c comment.Command, l Look, err error) ([]comment.Reply, error) {
	no, err := unable(c, "", err)
	if err != nil {
		return nil, err
	}
	l.Problem, l.Checked = t.clean(comment.Markdown(no)), true
	if err := t.saveLook(ctx, l); err != nil {
		return nil, err
	}
	if t.message.Actor == "" {
		err = t.supersede(ctx, nil)
	}
	return []comment.Reply{no}, err
}

// discover finds the projects that a command means in the merge that l names, and adds
// to l what there is to know of it.
func (t *task) discover(ctx context.Context, c comment.Command, l *Look) ([]project.Project, []comment.Reply, error) {
	base, note, err := t.settings(ctx, l.Base)
	if err != nil {
		return nil, nil, err
	}
	if note != "" {
		l.Notes = append(l.Notes, t.clean(note))
	}
	dir, done, err := t.checkout(ctx, l.Merge)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	found, reply, err := t.choose(ctx, c, dir, l)
	for i := range found {
		found[i].Apply = base.ApplyOn(found[i])
	}
	if reply != nil {
		return found, []comment.Reply{reply}, err
	}
	return found, nil, err
}

// supersede gives up the plans that wait, or are being made, of heads that are not the
// present one, of projects that this one does not touch.
func (t *task) supersede(ctx context.Context, found []project.Project) error {
	all, err := t.runs(ctx, t.message.Pull)
	if err != nil {
		return err
	}
	for _, s := range all {
		planned := slices.ContainsFunc(found, func(p project.Project) bool { return p.Name == s.Project && p.Workspace == s.Workspace })
		if planned || s.Head == t.pull.Head.SHA || s.Phase != runs.Queued && s.Phase != runs.Planning {
			continue
		}
		if err := t.abort(ctx, s.Run); err != nil {
			return err
		}
		// If it is planned by now, it is a plan of another head.
		if _, err := t.save(ctx, s.to(runs.Superseded)); err != nil && !errors.Is(err, pipeline.ErrConflict) {
			return err
		}
	}
	return nil
}

// abort tells those who wait for a plan that it will not be there. It comes before the
// run moves on, so that it is done again if we die in between.
func (t *task) abort(ctx context.Context, r runs.Run) error {
	if r.Phase != runs.Queued && r.Phase != runs.Planning {
		return nil
	}
	if r.Head != t.pull.Head.SHA {
		old := r
		old.Phase = runs.Superseded
		if err := t.putCheck(ctx, old); err != nil {
			return err
		}
	}
	return t.reply(ctx, r.Ask, planPart(r, comment.Superseded{Project: r.Project}))
}

// queuePlan asks for the plan of one project. The reply says why not, if not.
func (t *task) queuePlan(ctx context.Context, c comment.Command, p project.Project, l Look) (comment.Reply, error) {
	s, err := t.load(ctx, runs.Run{Pull: t.message.Pull, Project: p.Name, Workspace: p.Workspace})
	if err != nil {
		return nil, err
	}
	mine := s.PlanFor == t.message.ID
	if !mine {
		same := s.Head == l.Head && s.Base == l.Base && s.Phase != runs.Dropped && s.Phase != runs.Superseded
		if t.message.Actor == "" && same {
			return nil, nil // an older event, or the same in other words
		}
		q, err := t.request(ctx, comment.Plan, s.Run)
		if err != nil {
			return nil, err
		}
		if d := runs.Gate(q); !d.Allowed() {
			return refused(c, p.Name, d), nil
		}
		if err := t.abort(ctx, s.Run); err != nil {
			return nil, err
		}
		if s, err = t.save(ctx, t.next(s, p, l)); err != nil {
			return nil, err
		}
	}
	if s.Phase != runs.Queued {
		return nil, nil // of this message, and on its way
	}
	return nil, t.announce(ctx, s.Run)
}

// next is the run, queued to be planned anew.
func (t *task) next(s stored, p project.Project, l Look) stored {
	s = s.to(runs.Queued)
	s.Pull, s.Dir, s.VarFiles, s.ApplyOn = t.message.Pull, p.Dir, p.VarFiles, p.Apply
	s.Head, s.Base, s.Merge = l.Head, l.Base, l.Merge
	s.Attempt++
	s.PlanFor, s.Actor, s.Ask = t.message.ID, t.message.Actor, askOf(t.message)
	s.State, s.Inputs, s.Counts, s.Applyable, s.Full = runs.StateID{}, "", comment.Counts{}, false, false
	s.PlanHash, s.Reported = "", ""
	s.Done, s.Remaining, s.Lost = comment.Counts{}, 0, false
	return s
}

// announce says of a run that is queued that it is, and sends the message for it.
func (t *task) announce(ctx context.Context, r runs.Run) error {
	if err := t.reply(ctx, r.Ask, planPart(r, comment.Pending{Project: r.Project, Verb: comment.Plan})); err != nil {
		return err
	}
	if err := t.putCheck(ctx, r); err != nil {
		return err
	}
	return t.send(ctx, pipeline.Message{Kind: pipeline.ToPlan, Target: r.Target(), Attempt: r.Attempt, Actor: r.Actor, Ask: r.Ask}, r.Plain(), r.Attempt)
}
