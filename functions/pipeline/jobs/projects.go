package jobs

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// Projects reads the projects of a checkout. Its author opened the pull request, and reading it may
// take any time and memory: then the error is a *DeathError.
type Projects interface {
	Discover(ctx context.Context, dir string) (Discovered, error)
	// Inputs returns the files of a checkout that a plan of a project depends on. The error wraps
	// ErrNoProject if there is no such project.
	Inputs(ctx context.Context, dir string, r runs.Run, s Scope) (project.Tree, error)
}

// A Scope is how much of a checkout a plan depends on besides the project's own files.
type Scope struct {
	Read  []string // the paths that file functions looked at
	Whole bool     // all of it: programs may run, and can read anything
}

// Discovered is the content of a checkout.
type Discovered struct {
	Projects []project.Project
	Problem  string // with the repository's own description, in Markdown; "" for none
	// Settings is the name of the file with the description, "" for none. Notes are sentences about it
	// for people, in Markdown.
	Settings string   `json:",omitempty"`
	Notes    []string `json:",omitempty"`
}

// ErrNoProject is the lack of a project in a checkout.
var ErrNoProject = errors.New("the project is not in the checkout")
