package jobs

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// Projects reads what a checkout says of its projects. It was written by whoever opened the
// pull request, and reading it may take any time and memory: an error that is a *DeathError
// says that it took too much.
type Projects interface {
	Discover(ctx context.Context, dir string) (Discovered, error)
	// Inputs returns what a plan of a project depends on in a checkout. The error wraps
	// ErrNoProject if there is no such one.
	Inputs(ctx context.Context, dir string, r runs.Run, s Scope) (project.Tree, error)
}

// A Scope is how much of a checkout a plan depends on besides the project's own files.
type Scope struct {
	Read  []string // the paths that file functions looked at
	Whole bool     // all of it: programs may run, and can read anything
}

// Discovered is what was found in a checkout.
type Discovered struct {
	Projects []project.Project
	Problem  string // with the repository's own description, in Markdown; "" for none
}

// ErrNoProject says that a checkout does not have the project.
var ErrNoProject = errors.New("the project is not in the checkout")
