package gatefacts

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// A Preview has the two jobs for planning a commit of a fork. Base is the job for the project on the base
// branch; it has the right to read the project's state. Head is the job for the files of the fork;
// [jobs.Unprivileged] removes its rights.
type Preview struct {
	Base, Head jobs.Job
	Placing    admission.Placing
}

// PreviewOf returns the jobs for a run in a fork. The run's commit is checked out in dir, and the base commit
// in baseDir. State, encryption and providers are those of the project with the same name on the base branch.
// If there are no jobs, problem or the decision no is the reason.
func PreviewOf(ctx context.Context, e *Reader, q admission.Request, dir, baseDir string) (v Preview, no admission.Decision, problem string, err error) {
	r := q.Run
	known, ok, err := e.RemovedOf(ctx, r)
	if err != nil {
		return v, no, "", err
	}
	if !ok {
		return v, admission.Refusal(reasons.NotOnBase{Project: r.Project}), "", nil
	}
	d, err := discovered(ctx, e, dir)
	if err != nil {
		return v, no, "", err
	}
	i := slices.IndexFunc(d.Projects, func(p project.Project) bool { return p.Name == r.Project && p.Workspace == r.Workspace })
	if i < 0 {
		return v, no, fmt.Sprintf("%s: %s", jobs.ErrNoProject, r.Project), nil
	}
	head := d.Projects[i]
	if known.Nowhere == "" && (head.Nowhere != "" || !head.Place.Is(known.Place)) {
		return v, admission.Refusal(reasons.StateElsewhere{Project: r.Project}), "", nil
	}
	q.Run.Spec.Dir, q.Run.Spec.VarFiles, q.Run.Spec.Environment, q.Run.Spec.Options = known.Dir, known.VarFiles, known.Environment, runs.Run{}.Spec.Options
	if v.Base, problem, err = e.Job(ctx, &q, baseDir); err != nil || problem != "" {
		return v, no, problem, err
	}
	v.Placing = *q.Placing
	v.Head = jobs.Job{
		Checkout: dir, Dir: head.Dir, Project: r.Project, Workspace: r.Workspace, App: v.Base.App, Repo: v.Base.Repo,
		Number: v.Base.Number, Head: r.Spec.Head, Owner: v.Base.Owner, Actor: v.Base.Actor,
		InputValues: jobs.InputValues{Language: head.Language, VarFiles: head.VarFiles, Variables: head.Variables, Inputs: head.Inputs}, Options: r.Spec.Options, Grants: v.Base.Grants,
	}
	return v, admission.Decide(q), "", nil
}
