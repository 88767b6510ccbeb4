package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// commanded carries out the commands of a comment, as far as that is quick; plans and
// applies are asked for, and the answer says so until they are there.
func (t *task) commanded(ctx context.Context) error {
	name := askOf(t.message)
	var begun Ask
	err := t.changeAsk(ctx, name, func(a *Ask) {
		if a.Message == "" {
			a.Message = t.message.ID
		}
		begun = *a
	})
	if err != nil {
		return err
	}
	if begun.Told || begun.Message != t.message.ID && t.message.Comment != 0 {
		return nil // it is answered, or the same comment came to us on another way before
	}
	if err := t.look(ctx); err != nil {
		return err
	}
	if forgotten(t.message.At, t.pull.Updated) {
		return nil // what knew that it was answered may be gone
	}
	if ok, err := t.admit(ctx); err != nil || !ok {
		return err
	}
	if err := t.react(ctx, t.message.Comment, github.Eyes); err != nil {
		return err
	}
	for i, line := range t.message.Lines {
		id := fmt.Sprintf("line %d.", i+1)
		if begun.has(id) {
			continue // done, in an earlier try, and perhaps not to be done again
		}
		replies, err := t.command(ctx, line)
		if err != nil {
			return err
		}
		var parts []Part
		for j, r := range replies {
			parts = append(parts, part(fmt.Sprintf("%s%d", id, j+1), r))
		}
		if err := t.reply(ctx, name, parts...); err != nil {
			return err
		}
	}
	return t.tell(ctx)
}

// command returns what there is to answer at once.
func (t *task) command(ctx context.Context, line comment.Line) ([]comment.Reply, error) {
	if line.Problem != "" {
		return []comment.Reply{comment.Misunderstood{Line: line}}, nil
	}
	switch c := line.Command; c.Verb {
	case comment.Plan:
		return t.queuePlans(ctx, c)
	case comment.Apply:
		return t.queueApplies(ctx, c)
	case comment.Unlock:
		return t.unlock(ctx, c)
	default:
		return t.guide(ctx)
	}
}

// guide answers a call for help.
func (t *task) guide(ctx context.Context) ([]comment.Reply, error) {
	all, err := t.runs(ctx, t.message.Pull)
	if err != nil {
		return nil, err
	}
	var g comment.Guide
	for _, r := range all {
		g.Projects = append(g.Projects, r.Project)
	}
	return []comment.Reply{g}, nil
}

// queueApplies asks for the applies of the saved plans that a command means. The
// replies say what is not applied, and why.
func (t *task) queueApplies(ctx context.Context, c comment.Command) ([]comment.Reply, error) {
	all, err := t.runs(ctx, t.message.Pull)
	if err != nil {
		return nil, err
	}
	all = t.meant(c, all)
	if len(all) == 0 {
		q, err := t.request(ctx, comment.Apply, runs.Run{})
		if err != nil {
			no, err := unable(c, c.Project, err)
			return []comment.Reply{no}, err
		}
		return []comment.Reply{refused(c, c.Project, runs.Gate(q))}, nil
	}
	var replies []comment.Reply
	for _, s := range all {
		no, err := t.queueApply(ctx, c, s)
		if err != nil {
			return nil, err
		}
		if no != nil {
			replies = append(replies, no)
		}
	}
	return replies, nil
}

// meant picks the runs that a command is for. One that names nothing is for what is
// to be done at the present head; if that is nothing, the gate says why of each.
func (t *task) meant(c comment.Command, all []stored) []stored {
	all = slices.DeleteFunc(all, func(s stored) bool {
		return s.Phase == runs.Dropped || s.Phase == runs.Superseded || !means(c, s.Project, s.Dir, s.Workspace)
	})
	if named := slices.DeleteFunc(slices.Clone(all), func(s stored) bool { return c.Plan == "" || !strings.HasPrefix(s.PlanHash, c.Plan) }); len(named) > 0 {
		return named
	}
	c.Plan = "" // if it is none of these, each says which one it has
	if c != (comment.Command{Verb: c.Verb}) {
		return all
	}
	for _, better := range []func(stored) bool{
		func(s stored) bool { return s.Head == t.pull.Head.SHA },
		func(s stored) bool {
			return s.Phase == runs.Planned && s.Applyable || s.Phase == runs.ApplyQueued || s.Phase == runs.Applying || s.ApplyFor == t.message.ID
		},
	} {
		if slices.ContainsFunc(all, better) {
			all = slices.DeleteFunc(all, func(s stored) bool { return !better(s) })
		}
	}
	return all
}

// queueApply asks for the apply of one saved plan, if the gate allows it as things
// stand: it is asked again before anything is done. The reply says why not, if not.
func (t *task) queueApply(ctx context.Context, c comment.Command, s stored) (comment.Reply, error) {
	if s.ApplyFor != t.message.ID {
		d, err := t.mayQueue(ctx, c, s.Run)
		if err != nil {
			return unable(c, s.Project, err)
		}
		if !d.Allowed() {
			return refused(c, s.Project, d), nil
		}
		s = s.to(runs.ApplyQueued)
		s.Try++
		s.ApplyFor, s.Actor, s.Ask = t.message.ID, t.message.Actor, askOf(t.message)
		if s, err = t.save(ctx, s); err != nil {
			return nil, err
		}
	}
	if s.Phase != runs.ApplyQueued {
		return nil, nil // asked for by this message, and on its way
	}
	if err := t.reply(ctx, s.Ask, applyPart(s.Run, comment.Pending{Project: s.Project, Verb: comment.Apply})); err != nil {
		return nil, err
	}
	if err := t.putCheck(ctx, s.Run); err != nil {
		return nil, err
	}
	return nil, t.send(ctx, pipeline.Message{Kind: pipeline.ToApply, Target: s.Target(), Attempt: s.Try, Actor: s.Actor, Ask: s.Ask}, s.Plain(), s.Try)
}

// mayQueue asks the gate about the apply of a plan. What GitHub shows of it is looked at if
// nothing else speaks against it.
func (t *task) mayQueue(ctx context.Context, c comment.Command, r runs.Run) (runs.Decision, error) {
	q, err := t.request(ctx, comment.Apply, r)
	if err != nil {
		return runs.Decision{}, err
	}
	q.Named = c.Plan
	if d := runs.Gate(q); !d.Allowed() {
		return d, nil
	}
	err = t.compareShown(ctx, &q)
	return runs.Gate(q), err
}

// unlock releases what earlier applies of the pull request have left locked.
func (t *task) unlock(ctx context.Context, c comment.Command) ([]comment.Reply, error) {
	all, err := t.runs(ctx, t.message.Pull)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s stored) bool { return !means(c, s.Project, s.Dir, s.Workspace) })
	if len(all) == 0 {
		return []comment.Reply{comment.Refused{Command: c, Reasons: []comment.Reason{{Text: "This pull request has no project whose state it could have locked."}}}}, nil
	}
	var replies []comment.Reply
	for _, s := range all {
		reply, err := t.unlockOne(ctx, c, s.Run)
		if err != nil {
			return nil, fmt.Errorf("unlock %s: %w", s.Project, err)
		}
		replies = append(replies, reply)
	}
	return replies, nil
}

func (t *task) unlockOne(ctx context.Context, c comment.Command, r runs.Run) (comment.Reply, error) {
	q, err := t.request(ctx, comment.Unlock, r)
	if err != nil {
		return unable(c, r.Project, err)
	}
	if d := runs.Gate(q); !d.Allowed() {
		return refused(c, r.Project, d), nil
	}
	// The merge is what the lock was taken with; GitHub forgets it some time after.
	dir, done, err := t.checkout(ctx, r.Merge)
	if errors.Is(err, github.ErrNotFound) {
		dir, done, err = t.checkout(ctx, r.Head)
	}
	if errors.Is(err, github.ErrNotFound) {
		return comment.Refused{Command: c, Project: r.Project, Reasons: []comment.Reason{gone(err)}}, nil
	}
	if err != nil {
		return unable(c, r.Project, err)
	}
	defer done()
	job, problem, err := t.job(ctx, &q, dir)
	if err != nil {
		return unable(c, r.Project, err)
	}
	if d := runs.Gate(q); !d.Allowed() {
		return refused(c, r.Project, d), nil
	}
	if problem != "" {
		return comment.Refused{Command: c, Project: r.Project, Reasons: []comment.Reason{{Text: problem}}}, nil
	}
	u, err := t.Engine.Unlock(ctx, job)
	var no *jobs.StateError
	if errors.As(err, &no) {
		return comment.Refused{Command: c, Project: r.Project, Reasons: []comment.Reason{{
			Text: "Its state cannot be reached: " + comment.Code(t.clean(no.Why)), Remedy: no.Remedy,
		}}}, nil
	}
	return comment.Unlocked{Project: r.Project, Locks: u.Locks, Others: u.Others}, err
}
