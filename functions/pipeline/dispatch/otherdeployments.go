package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// deploymentChecks lists the deployments that work for a repository, with their checks on a head commit. All
// deployments see the same checks, but share no records. The checks tell all of them which deployment
// answers a command that is for no particular project.
type deploymentChecks struct {
	own   string
	names []string // the deployments that the base branch names; nil if this one is the only one
	all   []github.Report
	by    gatefacts.DeploymentChecks
}

// first reports whether this deployment has the first name, in alphabetical order, of all deployments that
// have a check on the head commit. Each active deployment has such a check.
func (v deploymentChecks) first() bool {
	for _, name := range v.names {
		if name < v.own && v.by.Has(name) {
			return false
		}
	}
	return true
}

// open reports whether a deployment has a check of one of these projects that has failed or is still in
// progress.
func (v deploymentChecks) open(deployment string, projects []string) bool {
	// A project without a check of its own is in one of those that several projects share.
	var alone []string
	shared := false
	for _, r := range v.all {
		by, name, is := pipeline.ReadCheck(r.Name)
		if !is || by != deployment || !(r.Ours && by == v.own || by != v.own && v.by.MadeBy(by, r)) {
			continue
		}
		if pipeline.IsSharedCheck(r.Name) {
			shared = shared || !r.Passed
			continue
		}
		name, _, _ = strings.Cut(name, "@")
		if !r.Passed && slices.Contains(projects, name) {
			return true
		}
		alone = append(alone, name)
	}
	return shared && slices.ContainsFunc(projects, func(name string) bool { return !slices.Contains(alone, name) })
}

// readDeploymentChecks reads the checks that all deployments have written for the pull request. They show which
// deployment must answer a command. After an error, the caller answers the command itself.
func (co *commands) readDeploymentChecks(ctx context.Context) (deploymentChecks, error) {
	v := deploymentChecks{own: co.Facts.Deployment}
	if co.Facts.Message.At.IsZero() {
		return v, nil
	}
	names, err := gatefacts.Deployments(ctx, co.Facts)
	if err != nil || len(names) == 0 {
		_, err = gatefacts.FinalRefusal(err)
		return v, err
	}
	v.all, err = co.Facts.Hub.Reports(ctx, co.Facts.Pull.Head.SHA)
	if _, final := gatefacts.FinalRefusal(err); final != nil && !errors.Is(err, github.ErrNotFound) {
		return v, fmt.Errorf("look for the checks of other deployments: %w", final)
	}
	if err != nil {
		return v, nil
	}
	v.names = names
	v.by, err = gatefacts.DeploymentChecksOf(ctx, co.Facts, names, v.all)
	return v, err
}

// answerOnce returns the replies to a line that every deployment would answer in the same way. It returns none
// if another deployment answers.
func (co *commands) answerOnce(ctx context.Context, replies ...comment.Reply) ([]comment.Reply, error) {
	v, err := co.readDeploymentChecks(ctx)
	if err != nil || !v.first() {
		return nil, err
	}
	return replies, nil
}

// answerGeneral returns the replies to a refused command, if the reason is the same for all projects. Only one
// deployment then answers. ok is false if a reply has another reason.
func (co *commands) answerGeneral(ctx context.Context, c comment.Command, replies []comment.Reply) (_ []comment.Reply, ok bool, err error) {
	for _, r := range replies {
		if no, is := r.(comment.Refused); !is || !admission.SameForAllProjects(no.Reasons) {
			return nil, false, nil
		}
	}
	if len(replies) == 0 {
		return nil, false, nil
	}
	v, err := co.readDeploymentChecks(ctx)
	switch {
	case err != nil || len(v.names) == 0:
		return replies, true, err
	case !v.first():
		return nil, true, nil
	}
	no := replies[0].(comment.Refused)
	no.Project = c.Project
	return []comment.Reply{no}, true, nil
}

// failedElsewhere returns the replies to a command for failed projects, if no project of this deployment has
// failed. If checks of other deployments have not passed, those deployments answer. Otherwise one deployment
// answers for all.
func (co *commands) failedElsewhere(ctx context.Context, c comment.Command, no comment.Refused) ([]comment.Reply, error) {
	named := c
	named.Failed = false
	l, err := co.Ledger.LastLook(ctx, co.Facts.Message.Pull)
	if err != nil {
		return nil, err
	}
	all, err := co.Ledger.Runs(ctx, co.Facts.Message.Pull)
	if err != nil {
		return nil, err
	}
	var ours []string
	for _, s := range all {
		if s.Phase != runs.Superseded && s.SelectedBy(named) {
			ours = append(ours, s.Project)
		}
	}
	others := slices.DeleteFunc(l.Elsewhere, func(x ledger.Elsewhere) bool { return !named.Selects(x.Project, x.Dir, x.Workspace) })
	if len(ours) == 0 && len(others) > 0 && !named.Everything() {
		return []comment.Reply{gatefacts.RefusedElsewhere(no.Command, others)}, nil
	}
	v, err := co.readDeploymentChecks(ctx)
	if err != nil {
		return nil, err
	}
	theirs := func(x ledger.Elsewhere) bool { return v.open(x.By, []string{x.Project}) }
	if v.open(v.own, ours) || len(v.names) == 0 {
		return []comment.Reply{no}, nil
	}
	if slices.ContainsFunc(others, theirs) || !v.first() {
		return nil, nil
	}
	if answered, err := co.answered(ctx); err != nil || answered {
		return nil, err // it failed, and is planned again meanwhile
	}
	return []comment.Reply{no}, nil
}

// answered reports whether another App has answered the comment.
func (co *commands) answered(ctx context.Context) (bool, error) {
	m := co.Facts.Message
	if m.Comment == 0 {
		return false, nil
	}
	all, err := co.Facts.Hub.CommentsSince(ctx, m.At)
	if err != nil {
		_, err = gatefacts.FinalRefusal(err)
		return false, err
	}
	name := report.AnswerTo(m)
	return slices.ContainsFunc(all, func(c github.Comment) bool {
		theirs := strings.HasPrefix(c.Body, comment.AnswerMarker(name)) || strings.HasPrefix(c.Body, comment.ResultMarker(name))
		return c.Bot && c.Number == m.Pull.Number && theirs
	}), nil
}
