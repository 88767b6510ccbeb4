package gatefacts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/requirementrules"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// maxPolicies is the maximum size of a commit's policies together, in bytes. maxPolicyFiles is the maximum
// number of files in a directory. There are limits because policies are kept in memory, and passed to the
// process of each plan.
const (
	maxPolicies    = 1 << 20
	maxPolicyFiles = 500
)

// PoliciesIn reads the policies that the settings s name, in a checkout of the base branch. of is the name of
// the checkout for people. If a directory cannot be read, its policy gets a problem.
func PoliciesIn(dir, of string, s *project.Settings) (out []jobs.Policy, err error) {
	if s == nil {
		return nil, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	left := maxPolicies
	for _, r := range s.Require {
		if r.Policy == nil {
			continue
		}
		p := jobs.Policy{Policy: *r.Policy}
		if p.Repository != "" { // see elsewhere
			out = append(out, p)
			continue
		}
		if p.Files, err = policyFiles(root.FS(), of, p.Policy, &left); err != nil {
			p.Files, p.Problem = nil, err.Error()
		}
		out = append(out, p)
	}
	return out, nil
}

// policyFiles reads the policies and data of a policy block in a checkout. of is the name of the checkout for
// people. It skips tests of policies, and files that are neither policies nor data. Names are relative to the
// directory of the policies, or to the data directory that has the file. left is the number of bytes that may
// still be read.
func policyFiles(checkout fs.FS, of string, p requirements.Policy, left *int) (map[string][]byte, error) {
	files := map[string][]byte{}
	read := func(dir string) error {
		if info, err := fs.Stat(checkout, dir); err != nil || !info.IsDir() {
			return fmt.Errorf("%s has no directory %s", of, dir)
		}
		return fs.WalkDir(checkout, dir, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && name != dir && slices.Contains(p.Data, name) {
				return fs.SkipDir // it belongs to another module
			}
			if err != nil || d.IsDir() || !isPolicy(name) || path.Ext(name) == ".rego" && dir != p.Dir {
				return err
			}
			below := strings.TrimPrefix(strings.TrimPrefix(name, dir), "/")
			if files[below] != nil {
				return fmt.Errorf("there is a file %s in two of the directories of the policy: give %s another name", below, name)
			}
			files[below], err = readWithin(checkout, name, d, left)
			if errors.Is(err, errTooLarge) || len(files) > maxPolicyFiles {
				return fmt.Errorf("there are more than %d files in %s, or more than %d bytes in all policies", maxPolicyFiles, dir, maxPolicies)
			}
			return err
		})
	}
	for _, dir := range append([]string{p.Dir}, p.Data...) {
		if err := read(dir); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// errTooLarge means that the files of a commit are larger than their limit.
var errTooLarge = errors.New("the files are too large")

// readWithin reads a regular file of a checkout. left is the number of bytes that may still be read of all files. The error is
// errTooLarge if the file has more.
func readWithin(checkout fs.FS, name string, d fs.DirEntry, left *int) ([]byte, error) {
	if !d.Type().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", name)
	}
	info, err := d.Info()
	if err != nil {
		return nil, err
	}
	if *left -= int(min(info.Size(), maxPolicies+1)); *left < 0 {
		return nil, errTooLarge
	}
	return fs.ReadFile(checkout, name)
}

// isPolicy reports whether conftest would read the file with this name, as a policy or as data.
func isPolicy(name string) bool {
	return slices.Contains([]string{".rego", ".json", ".yaml", ".yml"}, path.Ext(name)) && !strings.HasSuffix(name, "_test.rego")
}

// judge adds to a job the policies and gates that must judge the plan, according to the settings at the run's
// base commit.
func (e *Reader) judge(ctx context.Context, r runs.Run, j *jobs.Job) error {
	s, _, err := e.Settings(ctx, r.Spec.Base)
	if err != nil {
		return err
	}
	j.PlanJSON = s.HasSteps(requirements.AfterPlan)
	if !s.HasPolicies() && !s.HasGates() {
		return nil
	}
	b, err := e.baseAt(ctx, r.Spec.Base)
	if err != nil {
		return err
	}
	policies, err := filled(ctx, e, b.policies)
	if err != nil {
		return err
	}
	for _, x := range s.Required(string(comment.Apply), project.Project{Name: r.Project, Dir: r.Spec.Dir, Workspace: r.Workspace}, b.projects) {
		if x.Gate != nil {
			j.Gates = append(j.Gates, *x.Gate)
		}
		for _, p := range policies {
			if x.Policy != nil && x.Policy.Name == p.Name {
				j.Policies = append(j.Policies, p)
			}
		}
	}
	return nil
}

// filled returns the policies, and adds the files of those that are in other repositories.
func filled(ctx context.Context, e *Reader, policies []jobs.Policy) ([]jobs.Policy, error) {
	if e.elsewhere == nil {
		e.elsewhere = &policyRepositories{e.Bases, e.Message.Pull, e.Scratch, map[string]string{}}
	}
	return e.elsewhere.fill(ctx, policies)
}

// policiesNow returns the IDs of the policies at the present tip of the base branch, by name.
func (e *Reader) policiesNow(ctx context.Context, in *required) (requirementrules.Fact[map[string]string], error) {
	if !in.settings.HasPolicies() {
		return requirementrules.Known(map[string]string{}), nil
	}
	b, err := e.baseAt(ctx, in.sha)
	var policies []jobs.Policy
	if err == nil {
		policies, err = filled(ctx, e, b.policies)
	}
	var dead *jobs.DeathError
	if errors.As(err, &dead) {
		return requirementrules.Unknown[map[string]string](err.Error()), nil
	}
	if err != nil {
		return requirementrules.Fact[map[string]string]{}, err
	}
	ids := map[string]string{}
	for _, p := range policies {
		ids[p.Name] = p.ID()
	}
	return requirementrules.Known(ids), nil
}
