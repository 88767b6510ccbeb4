package gatefacts

import (
	"context"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// WhyNoneSelected returns the reason why a command selects none of a pull request's runs. There are two
// reasons: the command is for failed runs and none has failed, or it names projects that have no run. Otherwise
// it returns nothing.
func WhyNoneSelected(c comment.Command, all []ledger.Versioned, nothing reasons.Reason) reasons.Reason {
	named := c
	named.Failed = false
	var here, meant []string
	failed := false
	for _, s := range all {
		if s.Phase == runs.Superseded {
			continue
		}
		if s.SelectedBy(named) {
			meant = append(meant, runs.Label(s.Run))
			failed = failed || s.SelectedBy(c)
		}
		if s.Phase != runs.Dropped {
			here = append(here, runs.Label(s.Run))
		}
	}
	switch {
	case c.Failed && len(meant) > 0 && !failed:
		return reasons.NothingFailed{Command: c, Projects: meant}
	case named.Everything() || len(meant) > 0:
		return nothing
	}
	return reasons.NoneSelected{Command: c, Projects: here}
}

// RepliesWithoutPlan returns the replies to an apply command that selects no plan of the pull request. Each
// says why there is no plan to apply: it is already applied, it had no changes, or the project must be planned
// first.
func RepliesWithoutPlan(ctx context.Context, e *Reader, c comment.Command, all []ledger.Versioned) ([]comment.Reply, error) {
	refused := func(why ...reasons.Reason) []comment.Reply {
		return []comment.Reply{Refused(c, c.Project, admission.Decision{Reasons: why})}
	}
	p := e.Pull
	if !p.Open && !p.Merged {
		return refused(reasons.NotOpen{}), nil
	}
	if no := WhyNoneSelected(c, all, nil); no != nil {
		return noneSelected(ctx, e, c, all, no)
	}
	done, left := repliesWithoutPlan(c, all)
	many := len(slices.DeleteFunc(slices.Clone(all), func(s ledger.Versioned) bool { return s.Phase == runs.Superseded })) > 1
	switch {
	case len(done) > 0 && len(left) == 0:
		return done, nil
	case len(left) > 0 && many && p.Merged:
		return left, nil
	}
	l, err := e.Ledger.LastLook(ctx, e.Message.Pull)
	if err != nil {
		return nil, err
	}
	unknown := l.Problem != "" || l.Refused != "" || l.Conflict || len(l.Elsewhere) > 0
	switch {
	case len(all) == 0 && !unknown && l.Projects == 0 && l.Head == p.Head.SHA:
		return refused(reasons.TouchesNothing{}), nil
	case p.Merged:
		return refused(reasons.NotOpen{Merged: true}, reasons.NoPlan{Merged: true}), nil
	}
	return refused(reasons.NoPlan{}), nil
}

// repliesWithoutPlan returns replies about the runs that a command selects: done are those about finished runs,
// left those about runs without a plan.
func repliesWithoutPlan(c comment.Command, all []ledger.Versioned) (done, left []comment.Reply) {
	for _, s := range all {
		if s.Phase == runs.Superseded || !s.SelectedBy(c) {
			continue
		}
		refused := func(why ...reasons.Reason) comment.Reply {
			return Refused(c, runs.Label(s.Run), admission.Decision{Reasons: why})
		}
		standing := s.Standing()
		switch {
		case s.End.FinishedBy != 0:
			done = append(done, refused(reasons.AlreadyDone{Head: s.Spec.Head, Number: s.End.FinishedBy}))
		case standing == comment.Applied:
			done = append(done, refused(reasons.AlreadyDone{Head: s.Spec.Head, By: s.Asked.By}))
		case standing == comment.NoChanges:
			done = append(done, refused(reasons.NothingToDo{}))
		default:
			left = append(left, refused(reasons.NotOpen{Merged: true}, reasons.NoPlan{Merged: true}))
		}
	}
	return done, left
}

// noneSelected returns the reply to a command that selects no project of the pull request. It contains the
// reason no, or a better one if there is one.
func noneSelected(ctx context.Context, e *Reader, c comment.Command, all []ledger.Versioned, no reasons.Reason) ([]comment.Reply, error) {
	l, err := e.Ledger.LastLook(ctx, e.Message.Pull)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.Spec.Head == l.Head {
			l.Touches = append(l.Touches, s.Target())
		}
	}
	if removed := RemovedHere(c, e.Pull, l); removed != nil {
		no = removed
	}
	if none, is := no.(reasons.NoneSelected); is && len(none.Projects) == 0 {
		if none.Known, err = projectsInstead(ctx, e, c); err != nil {
			return nil, err
		}
		no = none
	}
	return []comment.Reply{Refused(c, "", admission.Decision{Reasons: reasons.List{no}})}, nil
}

// RemovedHere returns the reason against a command for a project that the open pull request p removes, and that
// only merges apply. It returns nil for any other command. l is what Lockstep found when it last examined the
// head.
func RemovedHere(c comment.Command, p github.PullRequest, l ledger.Look) reasons.Reason {
	if !p.Open || l.Head != p.Head.SHA || c.Project == "" {
		return nil
	}
	named, _, _ := strings.Cut(runs.ID{Project: c.Project}.Target(), "@")
	for _, target := range l.Removes {
		name, _, _ := strings.Cut(target, "@")
		other := c.Workspace != "" && target != runs.ID{Project: c.Project, Workspace: c.Workspace}.Target()
		if name == named && !other && !slices.Contains(l.Touches, target) {
			return reasons.RemovedHere{Project: c.Project}
		}
	}
	return nil
}

// projectsInstead returns the names of the base branch's projects, as a suggestion, if the command matches none
// of them. It returns nil if the command matches one, or if the projects cannot be read.
func projectsInstead(ctx context.Context, e *Reader, c comment.Command) ([]string, error) {
	tip, err := e.Hub.Tip(ctx, e.Pull.Base.Ref)
	if err == nil {
		var b base
		if b, err = e.baseAt(ctx, tip); err == nil {
			var names []string
			for _, p := range b.projects {
				if c.Selects(p.Name, p.Dir, p.Workspace) {
					return nil, nil
				}
				names = append(names, p.Name)
			}
			return names, nil
		}
	}
	_, err = FinalRefusal(err)
	return nil, err
}

// WhyRemovedByBase returns the reason against a command that selects only projects which the base branch has
// removed or renamed. It returns nil for any other command.
func WhyRemovedByBase(c comment.Command, all []ledger.Versioned, head string) reasons.Reason {
	var no reasons.RemovedByBase
	for _, s := range all {
		if s.End.Renamed != "" && s.Spec.Head == head && !c.Everything() && c.Selects(s.Project, s.Spec.Dir, s.Workspace) {
			return reasons.RenamedByBase{Project: runs.Label(s.Run), Name: s.End.Renamed, Verb: c.Verb}
		}
		if s.End.Fate == runs.Gone && s.Spec.Head == head && c.Selects(s.Project, s.Spec.Dir, s.Workspace) {
			no.Projects = append(no.Projects, runs.Label(s.Run))
		}
	}
	if len(no.Projects) == 0 {
		return nil
	}
	return no
}
