package gatefacts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/requirementrules"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// Steps returns the steps of a run for a moment, with their files, and the commit of the base branch from which they
// come. Before and after an apply they are those at the tip of the base branch, like hooks. Otherwise they are those at
// the run's base commit, like policies.
func Steps(ctx context.Context, e *Reader, on requirements.Moment, r runs.Run) (out []jobs.Step, sha string, err error) {
	sha = r.Spec.Base
	var s *project.Settings
	if on == requirements.BeforeApply || on == requirements.AfterApply {
		in, err := e.requirements(ctx)
		if err != nil {
			return nil, "", err
		}
		s, sha = in.settings, in.sha
	} else if s, _, err = e.Settings(ctx, sha); err != nil {
		return nil, "", err
	}
	if !s.HasSteps(on) {
		return nil, sha, nil
	}
	b, err := e.baseAt(ctx, sha)
	if err != nil {
		return nil, "", err
	}
	for _, x := range s.StepsOf(on, project.Project{Name: r.Project, Dir: r.Spec.Dir, Workspace: r.Workspace}, b.projects) {
		out = append(out, b.steps[x.Name])
	}
	return out, sha, nil
}

// stepsIn reads the files of all steps of the settings s in a checkout of the base branch. If a step's files cannot be
// read, the step gets a problem.
func stepsIn(dir string, s *project.Settings) (map[string]jobs.Step, error) {
	out := map[string]jobs.Step{}
	if s == nil {
		return out, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	left := maxPolicies
	for _, r := range s.Require {
		if r.Step == nil {
			continue
		}
		x := jobs.Step{Step: *r.Step}
		if x.Base, err = stepFiles(root.FS(), r.Step.Files, &left); err != nil {
			x.Base, x.Problem = nil, fmt.Sprintf("the base branch's files of the step cannot be read: %s", err)
		}
		out[x.Name] = x
	}
	return out, nil
}

// stepFiles reads files and directories of a checkout. left is the number of bytes that may still be read.
func stepFiles(checkout fs.FS, names []string, left *int) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, top := range names {
		if err := fs.WalkDir(checkout, top, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			files[name], err = readWithin(checkout, name, d, left)
			if errors.Is(err, errTooLarge) || len(files) > maxPolicyFiles {
				return fmt.Errorf("the files of all steps are more than %d bytes, or those of one step more than %d files", maxPolicies, maxPolicyFiles)
			}
			return err
		}); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// stepsNow returns the IDs of the steps at the present tip of the base branch, by name.
func (e *Reader) stepsNow(ctx context.Context, in *required) (requirementrules.Fact[map[string]string], error) {
	ids := map[string]string{}
	if !in.settings.HasSteps(requirements.BeforePlan, requirements.AfterPlan) {
		return requirementrules.Known(ids), nil
	}
	b, err := e.baseAt(ctx, in.sha)
	var dead *jobs.DeathError
	if errors.As(err, &dead) {
		return requirementrules.Unknown[map[string]string](err.Error()), nil
	}
	if err != nil {
		return requirementrules.Fact[map[string]string]{}, err
	}
	for name, x := range b.steps {
		ids[name] = x.ID()
	}
	return requirementrules.Known(ids), nil
}
