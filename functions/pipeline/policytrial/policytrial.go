// Package policytrial tries the policies of a checkout before they count: once they are on the base branch, a mistake in one
// holds each apply.
//
// It refuses to judge a plan, and to read other repositories. Start at [Policies] and [Changed].
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

// Policies returns those of a checkout with mistakes, by the settings in a file of it. Policies in other repositories are not looked at,
// nor blocks with errors.
func Policies(dir, settings string) ([]jobs.TriedPolicies, error) {
	src, err := fileIn(dir, settings)
	if err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	return mistaken(dir, settings, src, func(requirements.Policy) bool { return true })
}

// Changed implements [jobs.TryPoliciesFunc]: it tries the policies with a file that the pull request changes, and those whose block the base
// branch does not have. Settings that cannot be read have none: whoever looks for projects tells that.
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

// fileIn reads a file of a checkout, and none outside of it that a link there names.
func fileIn(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.ReadFile(name)
}

// mistaken returns the policies with mistakes among those of a checkout that count.
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
