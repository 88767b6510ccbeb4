package planrun

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// choose finds the projects in a checkout that a command selects by name, directory or workspace. If the
// command names none, it returns those that the pull request changes. It notes problems of the repository in l.
// If there is nothing to plan, it returns a reply that refuses the command; otherwise the reply is nil. base
// are the settings of the base commit.
func (qu *PlanQueuer) choose(ctx context.Context, c comment.Command, dir string, base *project.Settings, l *ledger.Look) ([]selected, comment.Reply, error) {
	d, err := qu.readCheckout(ctx, dir, l)
	if err != nil {
		return nil, nil, err
	}
	all, settings := d.Projects, d.Settings
	t, err := gatefacts.Touched(ctx, qu.Facts, github.Merge{Base: l.Base, SHA: l.Merge}, dir, d)
	if err != nil {
		return nil, nil, err
	}
	l.Compared = !t.All
	qu.noteLeftOut(d, t, l)
	for _, name := range project.SettingsFiles {
		if slices.Contains(t.Changed, name) {
			l.Notes = append(l.Notes, notes.SettingsChanged(name))
		}
	}
	if err := qu.tryPolicies(ctx, dir, base, t, l); err != nil {
		return nil, nil, err
	}
	lost, err := qu.supersedeRemoved(ctx, all, l)
	if err != nil {
		return nil, nil, err
	}
	gone, err := qu.removed(ctx, base, all, t, l)
	if err == nil {
		gone, err = qu.withoutShadows(ctx, gone, t.Was, l)
	}
	if err != nil {
		return nil, nil, err
	}
	touched := slices.DeleteFunc(slices.Clone(all), func(p project.Project) bool { return !t.Touches(p) })
	if touched, err = qu.addApplied(ctx, touched, all, gone, l); err != nil {
		return nil, nil, err
	}
	every := append(ofHead(all), gone...)
	changed, err := qu.byDeployment(ctx, append(ofHead(touched), gone...), base, l)
	if err != nil {
		return nil, nil, err
	}
	found, err := qu.takeShadows(ctx, changed.ours, base, l)
	if err != nil {
		return nil, nil, err
	}
	l.Touches = []string{}
	for _, x := range found {
		l.Touches = append(l.Touches, runs.ID{Project: x.Name, Workspace: x.Workspace}.Target())
	}
	l.Projects = len(found) + lost
	l.Elsewhere = changed.others
	if len(changed.others) > 0 && c.Everything() {
		l.Notes = append(l.Notes, notedElsewhere(changed.others))
	}
	if !c.Everything() {
		var no comment.Reply
		if found, no, err = qu.named(ctx, c, every, found, base, l); err != nil || no != nil {
			return nil, no, err
		}
	}
	twins(found, every)
	if c.Options.Changes() && len(found) > 1 {
		return nil, several(c, found), nil
	}
	l.Order = orderOf(all, found, c, base)
	if len(found) > 0 {
		return found, nil, nil
	}
	no, err := qu.nothingSelected(ctx, c, cmp.Or(settings, project.FileName), every, l)
	return nil, no, err
}

// named returns the projects that a command names; every are all projects. It sets the field beside of a
// project that the pull request does not change.
func (qu *PlanQueuer) named(ctx context.Context, c comment.Command, every, touched []selected, base *project.Settings, l *ledger.Look) ([]selected, comment.Reply, error) {
	meant, err := qu.namedBy(ctx, c, every)
	if err != nil {
		return nil, nil, err
	}
	parts, err := qu.byDeployment(ctx, meant, base, l)
	if err != nil {
		return nil, nil, err
	}
	for i, p := range parts.ours {
		parts.ours[i].beside = !slices.ContainsFunc(touched, func(x selected) bool { return x.Name == p.Name && x.Workspace == p.Workspace })
	}
	if len(parts.ours) == 0 && len(parts.others) > 0 {
		return nil, gatefacts.RefusedElsewhere(c, parts.others), nil
	}
	return parts.ours, nil, nil
}

// nothingSelected returns the reply to a command that selects no project. It returns nil if nobody waits for an
// answer, or if other deployments answer. every are all projects.
func (qu *PlanQueuer) nothingSelected(ctx context.Context, c comment.Command, settings string, every []selected, l *ledger.Look) (comment.Reply, error) {
	switch {
	case qu.Facts.Message.Actor == "" || c.Everything() && len(l.Elsewhere) > 0:
		return nil, nil
	case l.Problem != "":
		return comment.Failed{Project: settings, Verb: comment.Plan, Body: l.Problem}, nil
	case qu.Facts.Message.Kind == pipeline.Landed:
		return nil, nil // nobody has asked
	}
	if no, err := qu.removedReply(ctx, c, l.Head); err != nil || no != nil {
		return no, err
	}
	if no := gatefacts.RemovedHere(c, qu.Facts.Pull, *l); no != nil {
		return gatefacts.Refused(c, "", admission.Refusal(no)), nil
	}
	twins(every, every)
	return noneSelected(c, every), nil
}

// orderOf returns the dependencies between projects at the head; nil if there are none.
func orderOf(all []project.Project, found []selected, c comment.Command, base *project.Settings) *ledger.HeadOrder {
	edges := project.EdgesOf(all)
	if len(edges) == 0 && !base.Orders() {
		return nil
	}
	o := &ledger.HeadOrder{Edges: edges}
	if c.Everything() {
		for _, p := range found {
			if p.base != "" {
				continue
			}
			o.Touched = append(o.Touched, p.Name)
		}
	}
	return o
}

// namedBy returns those projects in all that a command names. A project also matches by the name that it had
// when it was planned. For --failed, two kinds of projects count as failed, too: those whose plan the gate has
// refused, and those that the base branch had removed and has now once more.
func (qu *PlanQueuer) namedBy(ctx context.Context, c comment.Command, all []selected) (found []selected, err error) {
	known, err := qu.Ledger.Runs(ctx, qu.Facts.Message.Pull)
	if err != nil {
		return nil, err
	}
	var have []ledger.Versioned
	var denied []ledger.Denial
	if c.Failed {
		have = known
		l, err := qu.Ledger.LastLook(ctx, qu.Facts.Message.Pull)
		if err != nil {
			return nil, err
		}
		if l.Head == qu.Facts.Pull.Head.SHA {
			denied = ledger.DeniedOf(l, have)
		}
	}
	for _, p := range all {
		r, back := runs.Run{ID: runs.ID{Project: p.Name, Workspace: p.Workspace}, Spec: runs.Spec{Dir: p.Dir}}, false
		if i := slices.IndexFunc(have, func(s ledger.Versioned) bool { return s.Target() == r.Target() }); i >= 0 {
			r, back = have[i].Run, have[i].End.Fate == runs.Gone && have[i].Spec.Head == qu.Facts.Pull.Head.SHA && p.base == ""
			r.Spec.Dir = p.Dir
		}
		denied := slices.ContainsFunc(denied, func(d ledger.Denial) bool { return d.Run(r.Pull).Target() == r.Target() })
		before := slices.ContainsFunc(known, func(s ledger.Versioned) bool {
			was := s.Run
			was.Spec.Dir = p.Dir
			is := was
			is.Project, is.Workspace = p.Name, p.Workspace
			return runs.IsFormerNameOf(was, p.Project) && p.base == "" && (was.SelectedBy(c) || is.SelectedBy(c))
		})
		if r.SelectedBy(c) || before || (denied || back) && c.Selects(r.Project, r.Spec.Dir, r.Workspace) {
			found = append(found, p)
		}
	}
	return found, nil
}

// noteLeftOut records in l the projects of a pull request that cannot be planned, for example because of an
// error in their files. That is a problem if the pull request changes such a project. It also records the
// warnings about the repository that this pull request causes.
func (qu *PlanQueuer) noteLeftOut(d jobs.Discovered, t gatefacts.Touch, l *ledger.Look) {
	var dirs []string
	for _, p := range d.Left {
		if t.Touches(p) || len(d.Projects) == 0 && qu.Facts.Message.Actor != "" {
			dirs = append(dirs, p.Dir)
		}
	}
	problems := []string{l.Problem, qu.Report.Clean(t.Problem)}
	if len(dirs) > 0 {
		problems = append(problems, qu.Report.Clean(notes.LeftOut(dirs)))
	}
	l.Problem = strings.Join(slices.DeleteFunc(problems, func(s string) bool { return s == "" }), "\n\n")
	var unguarded []string
	for _, w := range d.Unguarded {
		if !slices.ContainsFunc(t.Unguarded, func(k jobs.Warning) bool { return k.Text == w.Text }) {
			unguarded = append(unguarded, w.Markdown())
		}
	}
	if len(unguarded) > 0 && qu.Facts.Pull.Open {
		l.Policies = qu.Report.Clean(notes.Unguarded(unguarded))
	}
	for _, w := range d.Warnings {
		known := slices.ContainsFunc(t.Known, func(k jobs.Warning) bool { return k.Text == w.Text })
		named := slices.ContainsFunc(dirs, func(dir string) bool { return strings.Contains(w.Text, strconv.Quote(dir)) })
		if !known && !named {
			l.Notes = append(l.Notes, qu.Report.Clean(w.Markdown()))
		}
	}
}

// readCheckout returns the projects in a checkout. Into l it writes the problems of the repository, and the
// notes about the settings file.
func (qu *PlanQueuer) readCheckout(ctx context.Context, dir string, l *ledger.Look) (jobs.Discovered, error) {
	d, err := qu.Projects.Discover(ctx, dir)
	var dead *jobs.DeathError
	switch {
	case errors.As(err, &dead):
		d = jobs.Discovered{Problem: dead.Markdown()}
	case err != nil:
		return d, err
	}
	if d.Problem != "" {
		l.Problem = qu.Report.Clean(d.Problem)
	}
	for _, note := range d.Notes {
		l.Notes = append(l.Notes, qu.Report.Clean(note))
	}
	return d, nil
}

// several refuses a command that changes the state or invokes an action, if it selects more than one project.
// It returns nil for any other command.
func several(c comment.Command, found []selected) comment.Reply {
	no := reasons.SeveralProjects{Command: c}
	for _, p := range found {
		no.Projects = append(no.Projects, p.label())
		no.Twins = no.Twins || p.twin
	}
	return gatefacts.Refused(c, "", admission.Refusal(no))
}

// noneSelected returns the refusal of a command that selects none of the projects, or (with --failed) none that
// has failed.
func noneSelected(c comment.Command, all []selected) comment.Reply {
	no := reasons.NoProjectSelected{Command: c}
	var named []string
	for _, p := range all {
		no.Projects = append(no.Projects, p.label())
		if c.Selects(p.Name, p.Dir, p.Workspace) {
			named = append(named, p.label())
		}
	}
	if c.Failed && len(named) > 0 {
		return gatefacts.Refused(c, "", admission.Refusal(reasons.NothingFailed{Command: c, Projects: named}))
	}
	return gatefacts.Refused(c, "", admission.Refusal(no))
}
