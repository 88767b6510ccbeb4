package gatefacts

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// MayTest reports whether the tests of a run's project may run: they may if the run may be planned.
func MayTest(ctx context.Context, e *Reader, r runs.Run) (bool, error) {
	r.Phase = runs.Queued // the plan may be made by now
	_, d, err := e.Ask(ctx, e.Request(comment.Plan, r), nil)
	return err == nil && d.Allowed(), err
}

// TestJob returns the job for the tests of a run, whose commit is checked out in dir. The job has no rights. If
// there is no job, problem is the reason.
func TestJob(ctx context.Context, e *Reader, r runs.Run, dir string) (j jobs.Job, problem string, err error) {
	s, _, err := e.Settings(ctx, r.Spec.Base)
	if err != nil {
		return jobs.Job{}, "", err
	}
	lock, err := e.lockOf(ctx, r)
	if err != nil {
		return jobs.Job{}, "", err
	}
	grants, err := project.GrantsOf(s, lock)
	if err != nil {
		return jobs.Job{}, err.Error(), nil
	}
	d, err := discovered(ctx, e, dir)
	if err != nil {
		return jobs.Job{}, "", err
	}
	i := slices.IndexFunc(d.Projects, func(p project.Project) bool { return p.Name == r.Project && p.Workspace == r.Workspace })
	if i < 0 {
		return jobs.Job{}, fmt.Sprintf("%s: %s", jobs.ErrNoProject, r.Project), nil
	}
	p, at := d.Projects[i], e.Message.Pull
	return jobs.ForTests(jobs.Job{
		Checkout: dir, Dir: p.Dir, Project: r.Project, Workspace: r.Workspace,
		App: at.App, Repo: at.Repo, Installation: at.Installation, Number: at.Number, Head: r.Spec.Head,
		Owner: fmt.Sprintf("lockstep %s#%d", at.Repository(), at.Number), Actor: e.Message.Actor,
		InputValues: jobs.InputValues{Language: p.Language, VarFiles: p.VarFiles, Variables: p.Variables}, Grants: grants,
	}, e.Pull.Fork()), "", nil
}
