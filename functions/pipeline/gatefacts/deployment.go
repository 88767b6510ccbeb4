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

// ServedBy returns the name of the deployment that serves a project, by a commit of the base branch. It costs an archive,
// once a process, where the settings there divide the projects among deployments.
func ServedBy(ctx context.Context, e *Reader, sha string, p project.Project) (string, error) {
	s, _, err := e.Settings(ctx, sha)
	if err != nil || !s.Divides() {
		return "", err
	}
	b, err := e.baseAt(ctx, sha)
	return s.Deployment(p, b.projects), err
}

// Deployments are the names of the deployments on the repository, by the base branch as it is now; nil where that names none,
// or is deleted, or nobody has named it.
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

// grant returns the rights of a project by the settings of a base commit.
func grant(ctx context.Context, e *Reader, s *project.Settings, sha string, p project.Project) (environments.Granted, error) {
	b, err := e.baseAt(ctx, sha)
	if err != nil {
		return environments.Granted{}, err
	}
	return s.Grant(p, project.Grantee{Branch: e.Pull.Base.Ref, Base: b.projects, Deployment: e.Deployment})
}

// servedNow reads which deployment serves the project of a request by the base branch as it is now, in q.ServedBy: since
// the plan it may have been given to another one. The base branch does not have what the pull request removes.
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
