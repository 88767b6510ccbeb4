package localpipeline

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

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
func (m *Machine) Show(ctx context.Context, repo github.Repo, number int, p *page.Pull) error {
	x, err := m.pulled(ctx, repo, number)
	if err != nil {
		return err
	}
	return m.show(ctx, x, p)
}

// Glance adds the facts for one line in the list of pull requests to p. Unlike [Machine.Show], it leaves out
// the texts of plans and results.
func (m *Machine) Glance(ctx context.Context, repo github.Repo, number int, p *page.Pull) error {
	x, err := m.pulled(ctx, repo, number)
	if err != nil {
		return err
	}
	return m.glance(ctx, m.Data.Records, x, p)
}

func (m *Machine) show(ctx context.Context, x pulled, p *page.Pull) error {
	all, err := statuses(ctx, m.Data.Records, x)
	if err != nil {
		return err
	}
	same := map[string]string{}
	for _, a := range all {
		if a.Standing == comment.ApplyQueued {
			if a.Ahead, err = runstatus.Ahead(ctx, m.Data.Records, a.run); err != nil {
				return err
			}
		}
		out := shown(a.run, a.ProjectStatus, a.former)
		if out.Report, err = m.report(ctx, a, same); err != nil {
			return err
		}
		if out.Log, err = m.logOf(ctx, a.run); err != nil {
			return err
		}
		p.Projects = append(p.Projects, out)
	}
	if h, ok := whole(x, p); ok {
		p.Report = m.censored(strings.Join(append([]string{h.Summary(github.MaxCheckText)}, h.Notes...), "\n\n"))
	}
	return nil
}

func (m *Machine) glance(ctx context.Context, from pipeline.Records, x pulled, p *page.Pull) error {
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
	var out []status
	head := runstatus.HeadOf(x.look)
	for _, r := range x.runs {
		p, err := runstatus.Project(ctx, from, r, head)
		if err != nil {
			return nil, err
		}
		out = append(out, status{p, r, runstatus.Former(r, head)})
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

// Text returns the whole text of a kind. name is the name of the plan's page. The error is page.ErrNotFound if there is no
// such text, or if it needs no own page because the pull request's page shows all of it.
func (m *Machine) Text(ctx context.Context, repo github.Repo, number int, kind page.TextKind, name string) (string, error) {
	runs, err := m.runs(ctx, repo, number)
	if err != nil {
		return "", err
	}
	for _, r := range runs {
		if planName(r) != name {
			continue
		}
		var all []byte
		for _, a := range textsOf(r, kind) {
			text, err := m.Data.Artifacts.Get(ctx, a)
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

// report returns the text about a project: its status as in its check, and its plan or the result of its apply.
// same has the projects that already showed a text, by text. A text that another project already shows is
// replaced by a reference to that project.
func (m *Machine) report(ctx context.Context, a status, same map[string]string) (string, error) {
	text, err := runstatus.Body(ctx, m.Data.Artifacts, m.Pipeline.Where, a.run, a.Standing)
	if err != nil {
		return "", err
	}
	key := string(a.Standing) + " " + text
	if first := same[key]; first != "" && !a.run.Plan.Full {
		text = comment.SameText(first)
	} else if len(text) > worthOnce {
		same[key] = planName(a.run)
	}
	if a.former || unplanned(a.Standing) && a.Standing != comment.PlanStopped {
		return m.censored(text), nil
	}
	return m.censored(comment.Check{ProjectStatus: a.ProjectStatus}.Summary(github.MaxCheckText) + "\n" + text), nil
}

// worthOnce is a length in bytes. If several projects have the same text, a text longer than this is shown only
// once.
const worthOnce = 200

// censored replaces Lockstep's secrets in a text by "[secret]".
func (m *Machine) censored(text string) string {
	for _, s := range m.Pipeline.Secrets {
		text = s.Redact(text)
	}
	return text
}

// shown returns the page's data about the project of a run. p is the project's status. former is set if the run
// belongs to an earlier head commit of the pull request.
func shown(r runs.Run, p comment.ProjectStatus, former bool) page.Project {
	out := page.Project{
		Name: r.Project, Dir: r.Spec.Dir, Workspace: r.Workspace, By: r.Asked.By, Head: r.Spec.Head, Plan: planName(r), HasPlan: r.Plan.Full, HasSteps: len(textsOf(r, page.StepOutputs)) > 0,
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

// where returns the address of the page with a text about a run. a is the artifact with the text. The third part of a's
// key is the run's target, and the last one is its file.
func where(base string, a pipeline.Artifact) string {
	owner, name, _ := strings.Cut(a.Repo, "/")
	id := page.PullID{Owner: owner, Name: name, Number: a.Number}
	parts := strings.Split(a.Key, "/")
	if len(parts) != 5 {
		return base + id.Path()
	}
	// The target's name and the workspace's name are both escaped, and "@" separates them.
	target, err := url.PathUnescape(strings.TrimSuffix(parts[2], "@"+project.DefaultWorkspace))
	if err != nil {
		return base + id.Path()
	}
	kind := page.WholePlan
	if strings.HasPrefix(parts[4], "steps") {
		kind = page.StepOutputs
	}
	return base + id.TextPath(kind, target)
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
	var parts []string
	for _, x := range []struct {
		n    int
		verb string
	}{{c.Import, "import"}, {c.Add, "add"}, {c.Change, "change"}, {c.Destroy, "destroy"}, {c.Forget, "forget"}, {c.Invoke, "invoke"}} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%d to %s", x.n, x.verb))
		}
	}
	return strings.Join(parts, ", ")
}
