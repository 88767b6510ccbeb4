// Package rehearsing tries the policies of a checkout before they count: once they are on the base branch, a mistake in one
// holds each apply.
//
// It refuses to judge a plan, and to read other repositories. Start at [Policies].
package rehearsing

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/lockstep-iac/lockstep/functions/pipeline/evidence"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/judging"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// A Policy is a policy block that could decide nothing.
type Policy struct {
	Name string
	Dir  string // of the policies
	// Mistakes are the reasons, each with its file from Dir on, or from the directory of its data, if it is in one. More is the
	// number of those left off.
	Mistakes []string
	More     int
}

// Policies returns those of a checkout with mistakes, by the settings in a file of it. Policies in other repositories are not looked at,
// nor blocks with errors.
func Policies(dir, settings string) (out []Policy, err error) {
	src, err := os.ReadFile(filepath.Join(dir, settings))
	if err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	s, _ := project.Read(settings, src)
	all, err := evidence.PoliciesIn(dir, "the repository", s)
	if err != nil {
		return nil, fmt.Errorf("read the policies: %w", err)
	}
	for _, p := range all {
		if p.Repository != "" {
			continue
		}
		if mistakes, more := judging.Mistakes(p); mistakes != nil {
			out = append(out, Policy{p.Name, p.Dir, mistakes, more})
		}
	}
	return out, nil
}
