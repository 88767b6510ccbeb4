package jobs

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
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
	// Touched compares two checkouts.
	Touched(ctx context.Context, c Comparison) (Compared, error)
}

// A Comparison is that of a checkout, Now, with that of its base, Was: see [project.Touched]. Had and Has are their projects.
type Comparison struct {
	Was, Now string
	Had, Has []project.Project
	// Seen is what plans have read, by targets: see [runs.Run.Target].
	Seen map[string][]project.FilesRead `json:",omitempty"`
}

// Compared is what differs.
type Compared struct {
	// Touched are the targets of the projects whose plans may differ.
	Touched []string
	// Changed are the names of the files that differ, sorted.
	Changed []string
	// Problem is why it cannot be told which projects are touched, in Markdown; "" for none.
	Problem string `json:",omitempty"`
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
	// Unguarded are the blocks that must hold something and are for no project, and Unheld is the first of them, in a line: on a base
	// branch they hold all applies.
	Unguarded []Warning `json:",omitempty"`
	Unheld    string    `json:",omitempty"`
	// Warnings are what is odd about the description, and Left the root modules that are no projects, for one of them: see
	// [project.Repository].
	Warnings []Warning         `json:",omitempty"`
	Left     []project.Project `json:",omitempty"`
}

// A Warning is a sentence for people, in Markdown, and its place: "lockstep.hcl:3", or "".
type Warning struct{ Text, At string }

// Markdown is the warning for a list of notes.
func (w Warning) Markdown() string {
	if w.At == "" {
		return w.Text
	}
	return w.Text + " (" + markdown.Code(w.At) + ")"
}

// ErrNoProject is the lack of a project in a checkout.
var ErrNoProject = errors.New("the project is not in the checkout")
