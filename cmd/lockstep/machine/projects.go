package machine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/run"
	"github.com/lockstep-iac/lockstep/functions/run/page"
	"github.com/lockstep-iac/lockstep/github"
)

// Projects returns how the projects of a pull request stand, as the page shows them,
// without what exists of them.
func (m *Machine) Projects(ctx context.Context, repo github.Repo, number int) ([]page.Project, error) {
	list, err := m.Data.Records.List(ctx, fmt.Sprintf("run/%d/%d", repo.ID, number))
	if err != nil {
		return nil, err
	}
	var out []page.Project
	for _, rec := range list {
		var r run.Run
		if err := json.Unmarshal(rec.Value, &r); err != nil {
			return nil, fmt.Errorf("read %s: %w", rec.Key, err)
		}
		p, err := m.project(ctx, r)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func (m *Machine) project(ctx context.Context, r run.Run) (page.Project, error) {
	p := page.Project{Name: r.Project, Dir: r.Dir, Workspace: r.Workspace, By: r.Actor, Head: r.Head}
	p.Standing, p.Tone = standing(r)
	if r.Report != "" {
		report, err := m.Data.Artifacts.Get(ctx, run.Artifact{Key: r.Report, Repo: r.Pull.Repo.String(), Number: r.Pull.Number, SHA: r.Head})
		if err != nil && !errors.Is(err, run.ErrNoArtifact) {
			return p, err
		}
		p.Report = string(report)
	}
	return p, nil
}

// standing puts a run's phase into words.
func standing(r run.Run) (string, page.Tone) {
	switch r.Phase {
	case run.Planning:
		return "is being planned", page.Busy
	case run.Planned:
		if !r.Applyable {
			return "has nothing to do", page.Quiet
		}
		return "waits for an apply", page.Waiting
	case run.PlanFailed:
		return "could not be planned", page.Bad
	case run.Applying:
		return "is being applied", page.Busy
	case run.Applied:
		return "is applied", page.Good
	case run.ApplyFailed:
		return "could not be applied", page.Bad
	case run.Stale:
		return "is out of date", page.Waiting
	}
	return "is over", page.Quiet
}
