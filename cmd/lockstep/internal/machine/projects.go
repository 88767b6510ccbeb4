package machine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/showing"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// Projects returns the projects of a pull request for the page, without their objects.
func (m *Machine) Projects(ctx context.Context, repo github.Repo, number int) ([]page.Project, error) {
	runs, err := m.runs(ctx, repo, number)
	if err != nil {
		return nil, err
	}
	var out []page.Project
	for _, r := range runs {
		p, err := m.project(ctx, r)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// Plan returns the whole text of a plan, by the name of its page. The error is page.ErrNotFound if
// there is none, or if its report is already complete.
func (m *Machine) Plan(ctx context.Context, repo github.Repo, number int, name string) (string, error) {
	runs, err := m.runs(ctx, repo, number)
	if err != nil {
		return "", err
	}
	for _, r := range runs {
		if planName(r) != name || !r.Full {
			continue
		}
		text, err := m.Data.Artifacts.Get(ctx, r.FullReport())
		if errors.Is(err, pipeline.ErrNoArtifact) {
			err = page.ErrNotFound
		}
		return string(text), err
	}
	return "", page.ErrNotFound
}

// runs reads the records of a pull request's projects.
func (m *Machine) runs(ctx context.Context, repo github.Repo, number int) ([]runs.Run, error) {
	list, err := m.Data.Records.List(ctx, fmt.Sprintf("run/%d/%d", repo.ID, number))
	if err != nil {
		return nil, err
	}
	return decode(list)
}

func decode(list []pipeline.Record) ([]runs.Run, error) {
	var out []runs.Run
	for _, rec := range list {
		var r runs.Run
		if err := json.Unmarshal(rec.Value, &r); err != nil {
			return nil, fmt.Errorf("read %s: %w", rec.Key, err)
		}
		if r.Pull.App == "" { // the pages know the first App only
			out = append(out, r)
		}
	}
	return out, nil
}

// project returns a run for the page, with its status and its report. Our own secrets are taken out of both, as in a check.
func (m *Machine) project(ctx context.Context, r runs.Run) (page.Project, error) {
	status, err := showing.Project(ctx, m.Data.Records, r)
	p := shown(r, status.Standing)
	if err != nil {
		return p, err
	}
	report, err := m.Data.Artifacts.Get(ctx, r.Report())
	if err != nil && !errors.Is(err, pipeline.ErrNoArtifact) {
		return p, err
	}
	p.Report = string(report)
	if standings[status.Standing].counted {
		p.Report = comment.Check{ProjectStatus: status}.Summary(github.MaxCheckText) + "\n" + p.Report
	}
	for _, s := range m.Pipeline.Secrets {
		p.Report = s.Redact(p.Report)
	}
	return p, nil
}

// shown returns a run's facts about its project, which stands like this.
func shown(r runs.Run, standing comment.Standing) page.Project {
	p := page.Project{
		Name: r.Project, Dir: r.Dir, Workspace: r.Workspace, By: r.Actor, Head: r.Head, Plan: planName(r), HasPlan: r.Full,
	}
	s := standings[standing]
	p.Standing, p.Tone = s.words, s.tone
	if s.counted {
		p.Summary = summary(r.Counts)
	}
	return p
}

// planName returns the name of the page of a run's plan.
func planName(r runs.Run) string {
	if r.Workspace != project.DefaultWorkspace {
		return r.Project + "@" + r.Workspace
	}
	return r.Project
}

// where returns the address of the page of an artifact: a run's whole plan, whose key has the run's
// target as its third part.
func where(base string, a pipeline.Artifact) string {
	owner, name, _ := strings.Cut(a.Repo, "/")
	id := page.PullID{Owner: owner, Name: name, Number: a.Number}
	parts := strings.Split(a.Key, "/")
	if len(parts) != 5 {
		return base + id.Path()
	}
	// Both names are escaped, and neither has an "@" unescaped.
	target, err := url.PathUnescape(strings.TrimSuffix(parts[2], "@"+project.DefaultWorkspace))
	if err != nil {
		return base + id.Path()
	}
	return base + id.PlanPath(target)
}

// standings puts a project's standing into words.
var standings = map[comment.Standing]struct {
	words   string
	tone    page.Tone
	counted bool // there is a plan with changes to count
}{
	comment.Queued:      {"waits to be planned", page.Busy, false},
	comment.Planning:    {"is being planned", page.Busy, false},
	comment.Ready:       {"waits for lockstep apply", page.Waiting, true},
	comment.OnMerge:     {"will be applied on merge", page.Waiting, true},
	comment.Blocked:     {"cannot be applied now", page.Bad, true},
	comment.Renewed:     {"has another plan than before", page.Waiting, true},
	comment.PartPlanned: {"is planned in part", page.Waiting, true},
	comment.PartApplied: {"is applied in part", page.Waiting, true},
	comment.Awaiting:    {"is to be applied after others", page.Busy, true},
	comment.Previewed:   {"is planned without credentials", page.Quiet, true},
	comment.NoChanges:   {"has nothing to do", page.Quiet, false},
	comment.Overtaken:   {"is to be planned after the apply of a former head", page.Busy, false},
	comment.PlanFailed:  {"could not be planned", page.Bad, false},
	comment.ApplyQueued: {"waits to be applied", page.Busy, true},
	comment.Applying:    {"is being applied", page.Busy, true},
	comment.Applied:     {"is applied", page.Good, true},
	comment.ApplyFailed: {"could not be applied", page.Bad, true},
	comment.Stopped:     {"was stopped", page.Bad, true},
	comment.Stale:       {"is out of date", page.Waiting, true},
	comment.NotApplied:  {"was not applied", page.Bad, true},
	comment.Closed:      {"was closed without an apply", page.Quiet, false},
	comment.Superseded:  {"was superseded by a newer head", page.Quiet, false},
}

// summary returns the changes to come.
func summary(c counting.Counts) string {
	var parts []string
	for _, x := range []struct {
		n    int
		verb string
	}{{c.Import, "import"}, {c.Add, "add"}, {c.Change, "change"}, {c.Destroy, "destroy"}, {c.Forget, "forget"}} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%d to %s", x.n, x.verb))
		}
	}
	return strings.Join(parts, ", ")
}
