package pagedata

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runstatus"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// Show adds facts from Lockstep's records to the page of a pull request: its projects, those with problems
// first, and the facts about the pull request as a whole.
func (s Site) Show(ctx context.Context, repo github.Repo, number int, p *page.Pull) error {
	x, err := s.pulled(ctx, repo, number)
	if err != nil {
		return err
	}
	return s.show(ctx, x, p)
}

// Glance adds the facts for one line in the list of pull requests to p. Unlike [Site.Show], it leaves out
// the texts of plans and results.
func (s Site) Glance(ctx context.Context, repo github.Repo, number int, p *page.Pull) error {
	x, err := s.pulled(ctx, repo, number)
	if err != nil {
		return err
	}
	return s.glance(ctx, s.Records, x, p)
}

func (s Site) show(ctx context.Context, x pulled, p *page.Pull) error {
	from, err := s.ofRepository(ctx, x.Repo)
	if err != nil {
		return err
	}
	all, err := statuses(ctx, from, x)
	if err != nil {
		return err
	}
	shownAs, texts := make([]page.Project, len(all)), make([]string, len(all))
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, a := range all {
		g.Go(func() (err error) {
			if a.Standing == comment.ApplyQueued {
				if a.Ahead, err = runstatus.Ahead(within, s.Records, a.run); err != nil {
					return err
				}
			}
			all[i], shownAs[i] = a, shown(a.run, a.ProjectStatus, a.former)
			if texts[i], err = runstatus.Body(within, s.Artifacts, s.Where, a.run, a.Standing); err != nil {
				return err
			}
			shownAs[i].Log, err = s.logOf(within, a.run)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	same, size := map[string]string{}, 0
	for i, a := range all {
		text := s.report(a, texts[i], same)
		if size+len(text) > maxReports {
			text = "*The report is left out, because this page is long. The check `" + a.run.CheckRun() + "` on GitHub has it.*"
		}
		shownAs[i].Report, size = text, size+len(text)
	}
	p.Projects = append(p.Projects, shownAs...)
	if h, ok := whole(x, p); ok {
		p.Report = s.censored(strings.Join(append([]string{h.Summary(github.MaxCheckText)}, h.Notes...), "\n\n"))
	}
	return nil
}

// maxReports is the maximum length of all reports on one page, in bytes. An answer of a function on AWS may have 6 MB,
// and a pull request may have hundreds of projects.
const maxReports = 2 << 20

func (s Site) glance(ctx context.Context, from pipeline.Records, x pulled, p *page.Pull) error {
	all, err := statuses(ctx, from, x)
	if err != nil {
		return err
	}
	for _, a := range all {
		p.Projects = append(p.Projects, shown(a.run, a.ProjectStatus, a.former))
	}
	whole(x, p)
	return nil
}

// A status is the status of a project, with the run that has this status.
type status struct {
	comment.ProjectStatus
	run    runs.Run
	former bool // the run belongs to an earlier head
}

// statuses returns the statuses of a pull request's projects, in the order of the page.
func statuses(ctx context.Context, from pipeline.Records, x pulled) ([]status, error) {
	out := make([]status, len(x.runs))
	head := runstatus.HeadOf(x.look)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, r := range x.runs {
		g.Go(func() error {
			p, err := runstatus.Project(ctx, from, r, head)
			out[i] = status{p, r, runstatus.Former(r, head)}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(out, func(a, b status) int { return comment.ByTrouble(a.ProjectStatus, b.ProjectStatus) })
	return out, nil
}

// whole adds to the page p the state of the pull request's head, if this state is about the pull request as a
// whole, such as a conflict. (The states of single projects are elsewhere on the page.) It returns all facts
// about the head.
func whole(x pulled, p *page.Pull) (h comment.Head, ok bool) {
	h, ok = runstatus.Head(x.look, x.runs)
	if ok && runstatus.Whole(h.Standing) {
		p.Words, p.Tone = h.Title(github.MaxCheckTitle), tones[h.Standing]
	}
	return h, ok
}

// tones are the tones (colours) for states of a pull request as a whole, such as a conflict. States of single
// projects have none here.
var tones = map[comment.HeadStanding]page.Tone{
	comment.HeadAwaited: page.Busy, comment.HeadGivenUp: page.Bad, comment.HeadUnknown: page.Bad, comment.HeadNotAllowed: page.Bad, comment.HeadConflict: page.Bad, comment.HeadPolicies: page.Bad,
	comment.HeadRefused: page.Waiting, comment.HeadNothing: page.Quiet, comment.HeadClosed: page.Waiting,
}

// textOf returns the whole text of a kind. name is the name of the plan's page. The error is page.ErrNotFound if there is no
// such text, or if it needs no own page because the pull request's page shows all of it.
func (s Site) textOf(ctx context.Context, repo github.Repo, number int, kind page.TextKind, name string) (string, error) {
	all, err := s.runs(ctx, repo, number)
	if err != nil {
		return "", err
	}
	for _, r := range all {
		if planName(r) != name {
			continue
		}
		var all []byte
		for _, a := range textsOf(r, kind) {
			text, err := s.Artifacts.Get(ctx, a)
			if err != nil && !errors.Is(err, pipeline.ErrNoArtifact) {
				return "", err
			}
			all = append(all, text...)
		}
		if len(all) > 0 {
			return string(all), nil
		}
	}
	return "", page.ErrNotFound
}

// textsOf returns the artifacts that make up a whole text about a run.
func textsOf(r runs.Run, kind page.TextKind) (out []pipeline.Artifact) {
	switch {
	case kind == page.WholePlan && r.Plan.Full:
		return []pipeline.Artifact{r.FullReport()}
	case kind == page.WholePlan && !r.Spec.Shared.IsZero():
		return []pipeline.Artifact{r.Report()} // the shared check run links to it
	case kind == page.StepOutputs:
		if r.Plan.StepOutputs {
			out = append(out, r.StepOutputs())
		}
		if r.Artifacts.Steps {
			out = append(out, r.ApplyStepOutputs())
		}
	}
	return out
}

// report returns the text about a project: its status as in its check, and its plan or the result of its apply (the
// parameter text). same has the projects that already showed a text, by text. A text that another project already shows
// is replaced by a reference to that project.
func (s Site) report(a status, text string, same map[string]string) string {
	key := string(a.Standing) + " " + text
	if first := same[key]; first != "" && !a.run.Plan.Full {
		text = comment.SameText(first)
	} else if len(text) > worthOnce {
		same[key] = planName(a.run)
	}
	if a.former || unplanned(a.Standing) && a.Standing != comment.PlanStopped {
		return s.censored(text)
	}
	return s.censored(comment.Check{ProjectStatus: a.ProjectStatus}.Summary(github.MaxCheckText) + "\n" + text)
}

// worthOnce is a length in bytes. If several projects have the same text, a text longer than this is shown only
// once.
const worthOnce = 200

// censored replaces Lockstep's secrets in a text by "[secret]".
func (s Site) censored(text string) string {
	for _, secret := range s.Secrets {
		text = secret.Redact(text)
	}
	return text
}

// shown returns the page's data about the project of a run. p is the project's status. former is set if the run
// belongs to an earlier head commit of the pull request.
func shown(r runs.Run, p comment.ProjectStatus, former bool) page.Project {
	out := page.Project{
		Name: r.Project, Dir: r.Spec.Dir, Workspace: r.Workspace, By: r.Asked.By, Head: r.Spec.Head, Plan: planName(r), HasPlan: len(textsOf(r, page.WholePlan)) > 0, HasSteps: len(textsOf(r, page.StepOutputs)) > 0,
	}
	if out.Standing, out.Tone = p.State(), toneOf(p); former && p.Standing != comment.Superseded {
		out.Standing += ", at an earlier commit"
	}
	if !unplanned(p.Standing) {
		out.Summary = summary(r.Plan.Counts)
	}
	return out
}

// planName returns the name of the page that shows a run's plan, such as "app" or "app@staging".
func planName(r runs.Run) string {
	if r.Workspace != project.DefaultWorkspace {
		return r.Project + "@" + r.Workspace
	}
	return r.Project
}

// toneOf returns the tone (colour) for a project. The project's check has the same tone. It is red only if the
// project failed or was denied.
func toneOf(p comment.ProjectStatus) page.Tone {
	switch p.Means() {
	case comment.ToCome, comment.UnderWay:
		return page.Busy
	case comment.Wrong, comment.Disallowed:
		return page.Bad
	case comment.Unsettled:
		return page.Waiting
	case comment.Well:
		switch p.Standing {
		case comment.Ready, comment.OnMerge, comment.OnceMerged:
			return page.Waiting
		case comment.Applied:
			return page.Good
		}
	}
	return page.Quiet
}

// unplanned reports whether a project with the state s has no plan with changes that could be counted.
func unplanned(s comment.Standing) bool {
	switch s {
	case comment.Queued, comment.Planning, comment.Postponed, comment.NoChanges, comment.PlanFailed, comment.PlanStopped, comment.Closed, comment.Superseded:
		return true
	}
	return false
}

// summary returns the number of planned changes as text, such as "1 to add, 2 to change".
func summary(c counting.Counts) string {
	return counted(c, "to import", "to add", "to change", "to destroy", "to forget", "to invoke")
}

// applied returns the number of changes that were made as text, such as "1 added, 2 changed".
func applied(c counting.Counts) string {
	return counted(c, "imported", "added", "changed", "destroyed", "forgotten", "invoked")
}

func counted(c counting.Counts, verbs ...string) string {
	var parts []string
	for i, n := range []int{c.Import, c.Add, c.Change, c.Destroy, c.Forget, c.Invoke} {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, verbs[i]))
		}
	}
	return strings.Join(parts, ", ")
}
