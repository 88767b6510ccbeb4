// Package policytrial tries the policies of a checkout before they are merged. On the base branch, a broken
// policy blocks every apply.
//
// This package does not judge a plan or read other repositories. Start reading at [Policies] and
// [Changed].
package policytrial

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/policychecks"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// Policies returns the broken policies of a checkout. settings is the settings file of the checkout. Policies
// in other repositories and blocks with errors are skipped.
func Policies(dir, settings string) ([]jobs.TriedPolicies, error) {
	src, err := fileIn(dir, settings)
	if err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	return mistaken(dir, settings, src, func(requirements.Policy) bool { return true })
}

// Changed implements [jobs.TryPoliciesFunc]. It tries a policy in two cases: the pull request changes one of
// the policy's files, or the base branch does not have the same policy block. If the settings cannot be read,
// it tries no policy. That error is reported when the projects are read.
func Changed(_ context.Context, dir string, r jobs.PolicyTrial) ([]jobs.TriedPolicies, error) {
	for _, settings := range project.SettingsFiles {
		src, err := fileIn(dir, settings)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			break
		}
		return mistaken(dir, settings, src, func(p requirements.Policy) bool {
			id := func(x requirements.Policy) string { return jobs.Policy{Policy: x}.ID() }
			known := slices.ContainsFunc(r.Were, func(was requirements.Policy) bool { return id(was) == id(p) })
			return r.Files == nil || !known || p.Reads(r.Files)
		})
	}
	return nil, nil
}

// fileIn reads a file of a checkout. It does not follow a link out of the checkout.
func fileIn(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.ReadFile(name)
}

// mistaken returns the broken policies of a checkout. src is the content of the settings file settings. Only
// policies for which counts returns true are tried.
func mistaken(dir, settings string, src []byte, counts func(requirements.Policy) bool) (out []jobs.TriedPolicies, err error) {
	s, _ := project.Read(settings, src)
	all, err := gatefacts.PoliciesIn(dir, "the repository", s)
	if err != nil {
		return nil, fmt.Errorf("read the policies: %w", err)
	}
	for _, p := range all {
		if p.Repository != "" || !counts(p.Policy) {
			continue
		}
		if mistakes, more := policychecks.Mistakes(p); mistakes != nil {
			out = append(out, jobs.TriedPolicies{Name: p.Name, Dir: p.Dir, Mistakes: mistakes, More: more})
		}
	}
	return out, nil
}
