package gatefacts

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/functions/project/environments"
	"github.com/lockstep-iac/lockstep/github"
)

// ServedBy returns the name of the deployment that works for a project, according to a commit of the base
// branch. If the settings name deployments, the answer needs a checkout of the commit, once in each
// process.
func ServedBy(ctx context.Context, e *Reader, sha string, p project.Project) (string, error) {
	s, _, err := e.Settings(ctx, sha)
	if err != nil || !s.Divides() {
		return "", err
	}
	b, err := e.baseAt(ctx, sha)
	return s.Deployment(p, b.projects), err
}

// Deployments returns the names of the deployments that work for the repository, according to the present base
// branch. It returns nil if the branch names none or is deleted, or if Lockstep does not plan for it.
func Deployments(ctx context.Context, e *Reader) ([]string, error) {
	if planned, err := BasePlanned(ctx, e); err != nil || !planned {
		return nil, err
	}
	tip, err := e.Hub.Tip(ctx, e.Pull.Base.Ref)
	if errors.Is(err, github.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for other deployments: %w", err)
	}
	s, _, err := e.Settings(ctx, tip)
	return s.Deployments(), err
}

// grant returns the rights of a project according to the settings at a base commit.
func grant(ctx context.Context, e *Reader, s *project.Settings, sha string, p project.Project) (environments.Granted, error) {
	b, err := e.baseAt(ctx, sha)
	if err != nil {
		return environments.Granted{}, err
	}
	return s.Grant(p, project.Grantee{Branch: e.Pull.Base.Ref, Base: b.projects, Deployment: e.Deployment})
}

// servedNow sets q.ServedBy to the deployment that works for the project, according to the present base branch.
// The deployment may have changed since the plan. servedNow does nothing for a removed project, because the
// base branch may not have it.
func servedNow(ctx context.Context, e *Reader, q *admission.Request) error {
	q.Deployment, q.ServedBy = e.Deployment, e.Deployment
	if q.Run.Spec.Removed || q.Verb != comment.Plan && q.Verb != comment.Apply {
		return nil
	}
	in, err := e.requirements(ctx)
	if err != nil {
		return err
	}
	r := q.Run
	q.ServedBy, err = ServedBy(ctx, e, in.sha, project.Project{Name: r.Project, Dir: r.Spec.Dir, Workspace: r.Workspace, Environment: r.Spec.Environment})
	return err
}
