package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// plan plans the projects that a command means, at the head as it is now.
func (t *task) plan(ctx context.Context, c comment.Command) ([]comment.Reply, error) {
	q, err := t.request(ctx, comment.Plan, Run{})
	if err != nil {
		return nil, err
	}
	if d := Gate(q); !d.Allowed() {
		return []comment.Reply{refused(c, "", d)}, nil
	}
	dir, done, err := t.checkout(ctx, t.pull.Head.SHA)
	if err != nil {
		return nil, err
	}
	defer done()
	projects, replies, err := t.choose(ctx, c, dir)
	if err != nil {
		return nil, err
	}
	var begun []stored
	for _, p := range projects {
		s, no, err := t.beginPlan(ctx, c, p)
		if err != nil {
			return nil, err
		}
		if no != nil {
			replies = append(replies, no)
			continue
		}
		begun = append(begun, s)
	}
	if len(begun) == 0 {
		return replies, nil
	}
	if err := t.status(ctx); err != nil {
		return nil, err
	}
	for _, s := range begun {
		reply, err := t.planOne(ctx, s, dir)
		if err != nil {
			return nil, err
		}
		if reply != nil {
			replies = append(replies, reply)
		}
	}
	return replies, t.status(ctx)
}

// choose finds the projects that a command means: those that it names, or those that
// the pull request touches.
func (t *task) choose(ctx context.Context, c comment.Command, dir string) ([]project.Project, []comment.Reply, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	all, ds := project.Discover(root.FS())
	if ds.HasErrors() {
		// The repository is at fault, and trying again does not help.
		return nil, []comment.Reply{comment.Refused{Command: c, Reasons: []comment.Reason{{Text: comment.Code(ds.Error())}}}}, nil
	}
	var found []project.Project
	if c == (comment.Command{Verb: c.Verb}) {
		files, complete, err := t.hub.ChangedFiles(ctx, t.pull.Number)
		if err != nil {
			return nil, nil, err
		}
		if !complete {
			return all, nil, nil
		}
		found = project.Touched(all, files)
	} else {
		for _, p := range all {
			if means(c, p.Name, p.Dir, p.Workspace) {
				found = append(found, p)
			}
		}
	}
	if len(found) > 0 || t.message.Actor == "" {
		return found, nil, nil
	}
	return nil, []comment.Reply{nothingMeant(c, all)}, nil
}

// means reports whether a command is for a project.
func means(c comment.Command, name, dir, workspace string) bool {
	return (c.Project == "" || c.Project == name) && (c.Dir == "" || c.Dir == dir) && (c.Workspace == "" || c.Workspace == workspace)
}

// nothingMeant says that a command is for no project, and which ones there are.
func nothingMeant(c comment.Command, all []project.Project) comment.Reply {
	text := fmt.Sprintf("There is no project for %s.", comment.Code(c.String()))
	if c == (comment.Command{Verb: c.Verb}) {
		text = "The pull request touches no project."
	}
	var names []string
	for _, p := range all {
		names = append(names, comment.Code(p.Name))
	}
	remedy := "The repository has no projects: no directory has configuration files."
	if len(names) > 0 {
		remedy = fmt.Sprintf("Projects here: %s.", strings.Join(names, ", "))
	}
	return comment.Refused{Command: c, Reasons: []comment.Reason{{Text: text, Remedy: remedy}}}
}

// beginPlan takes hold of a project for planning. The reply says why not, if not.
func (t *task) beginPlan(ctx context.Context, c comment.Command, p project.Project) (stored, comment.Reply, error) {
	s, err := t.load(ctx, Run{Pull: t.message.Pull, Project: p.Name, Dir: p.Dir, Workspace: p.Workspace})
	if err != nil {
		return s, nil, err
	}
	q, err := t.request(ctx, comment.Plan, s.Run)
	if err != nil {
		return s, nil, err
	}
	if d := Gate(q); !d.Allowed() {
		return s, refused(c, p.Name, d), nil
	}
	s = s.to(Planning)
	s.Pull, s.Dir = t.message.Pull, p.Dir
	s.Head, s.Base, s.Actor = t.pull.Head.SHA, t.pull.Base.SHA, t.message.Actor
	s.Message = t.message.ID
	s.Attempt++
	s.State, s.Counts, s.Applyable = StateID{}, comment.Counts{}, false
	s, err = t.save(ctx, s)
	if errors.Is(err, ErrConflict) {
		s.Phase = Planning // somebody else's
		return s, comment.Refused{Command: c, Project: p.Name, Reasons: []comment.Reason{{Text: "Something else is being done with it at this moment."}}}, nil
	}
	return s, nil, err
}

// planOne plans one project and saves the plan. There is no reply if a newer plan has
// begun meanwhile: that one counts.
func (t *task) planOne(ctx context.Context, s stored, dir string) (comment.Reply, error) {
	planned, err := t.Engine.Plan(ctx, t.job(s.Run, dir))
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", s.Project, err)
	}
	planned.Report = t.clean(planned.Report)
	old := []string{s.Plan, s.Report}
	s.Plan, s.Report = "", fmt.Sprintf("report/%s/%s/%d.md", s.key(), s.Head, s.Attempt)
	if err := t.Artifacts.Put(ctx, s.artifact(s.Report), []byte(planned.Report)); err != nil {
		return nil, err
	}
	next := PlanFailed
	var reply comment.Reply = comment.Failed{Project: s.Project, Verb: comment.Plan, Body: planned.Report}
	if planned.Plan != nil {
		next = Planned
		reply = comment.Planned{Project: s.Project, Counts: planned.Counts}
		s.Plan = fmt.Sprintf("plan/%s/%s/%d", s.key(), s.Head, s.Attempt)
		if err := t.Artifacts.Put(ctx, s.artifact(s.Plan), planned.Plan); err != nil {
			return nil, err
		}
	}
	s = s.to(next)
	s.State, s.Counts, s.Applyable = planned.State, planned.Counts, planned.Applyable
	if _, err = t.save(ctx, s); errors.Is(err, ErrConflict) {
		old, reply, err = []string{s.Plan, s.Report}, nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, key := range slices.DeleteFunc(old, func(k string) bool { return k == "" }) {
		if err := t.Artifacts.Delete(ctx, s.artifact(key)); err != nil {
			return nil, err
		}
	}
	return reply, nil
}
