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

// deploymentChecks are the deployments on a repository, and the checks of a head, by which each of them finds the same one to answer a
// command that is for no projects in particular: they share no records.
type deploymentChecks struct {
	own   string
	names []string // of the deployments that the base branch knows; none where ours is alone
	all   []github.Report
	by    gatefacts.DeploymentChecks
}

// first reports whether no other deployment comes before ours by its name: of those with a check of the head, as every
// one has that is there.
func (v deploymentChecks) first() bool {
	for _, name := range v.names {
		if name < v.own && v.by.Here(name) {
			return false
		}
	}
	return true
}

// open reports whether a deployment's check of one of some projects has not passed: it has failed, or is under way.
func (v deploymentChecks) open(deployment string, projects []string) bool {
	return slices.ContainsFunc(v.all, func(r github.Report) bool {
		by, name, is := pipeline.ReadCheck(r.Name)
		name, _, _ = strings.Cut(name, "@")
		return is && by == deployment && (r.Ours && by == v.own || by != v.own && v.by.By(by, r)) && !r.Passed && slices.Contains(projects, name)
	})
}

// listen reads the voices on the pull request. A button is one deployment's alone, and what cannot be read silences nobody.
func (co *commands) listen(ctx context.Context) (deploymentChecks, error) {
	v := deploymentChecks{own: co.Facts.Deployment}
	if co.Facts.Message.At.IsZero() {
		return v, nil
	}
	names, err := gatefacts.Deployments(ctx, co.Facts)
	if err != nil || len(names) == 0 {
		_, err = gatefacts.Impossible(err)
		return v, err
	}
	v.all, err = co.Facts.Hub.Reports(ctx, co.Facts.Pull.Head.SHA)
	if _, final := gatefacts.Impossible(err); final != nil && !errors.Is(err, github.ErrNotFound) {
		return v, fmt.Errorf("look for the checks of other deployments: %w", final)
	}
	if err != nil {
		return v, nil
	}
	v.names = names
	v.by, err = gatefacts.DeploymentChecksOf(ctx, co.Facts, names, v.all)
	return v, err
}

// once returns the replies to a line that every deployment on the repository would answer in the same way: one of them does.
func (co *commands) once(ctx context.Context, replies ...comment.Reply) ([]comment.Reply, error) {
	v, err := co.listen(ctx)
	if err != nil || !v.first() {
		return nil, err
	}
	return replies, nil
}

// general returns the replies to a command that is refused whichever project it is for: of several deployments one tells it, for
// all of them. ok is false if some of the replies are others.
func (co *commands) general(ctx context.Context, c comment.Command, replies []comment.Reply) (_ []comment.Reply, ok bool, err error) {
	for _, r := range replies {
		if no, is := r.(comment.Refused); !is || !admission.General(no.Reasons) {
			return nil, false, nil
		}
	}
	if len(replies) == 0 {
		return nil, false, nil
	}
	v, err := co.listen(ctx)
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

// failedElsewhere returns the replies to a command for what has failed that was refused, since none of ours has: where the
// checks of other deployments' projects have not passed, those answer it, and otherwise one of all does.
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
	v, err := co.listen(ctx)
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
		return nil, err // it has failed, and was planned again meanwhile
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
		_, err = gatefacts.Impossible(err)
		return false, err
	}
	name := report.AnswerTo(m)
	return slices.ContainsFunc(all, func(c github.Comment) bool {
		theirs := strings.HasPrefix(c.Body, comment.AnswerMarker(name)) || strings.HasPrefix(c.Body, comment.ResultMarker(name))
		return c.Bot && c.Number == m.Pull.Number && theirs
	}), nil
}
