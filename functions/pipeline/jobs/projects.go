package jobs

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// Projects finds and reads the projects in checkouts. The author of a pull request wrote the checkout, so
// reading it may take any amount of time and memory. Above a limit, the error is a *DeathError.
type Projects interface {
	Discover(ctx context.Context, dir string) (Discovered, error)
	// Inputs returns the files in a checkout on which a project's plan depends. The error wraps ErrNoProject if
	// the checkout does not have the project.
	Inputs(ctx context.Context, dir string, r runs.Run, s Scope) (project.Tree, error)
	// Touched finds the projects that differ between two checkouts.
	Touched(ctx context.Context, c Comparison) (Compared, error)
}

// A Comparison compares two checkouts: Now, and Was, which is the base of Now: see [project.Touched]. Had are
// the projects in Was, and Has those in Now.
type Comparison struct {
	Was, Now string
	Had, Has []project.Project
	// Seen are the files that plans have read, by target: see [runs.ID.Target].
	Seen map[string][]project.FilesRead `json:",omitempty"`
}

// Compared is the result of a [Comparison].
type Compared struct {
	// Touched are the targets of the projects whose plans may differ between the two checkouts.
	Touched []string
	// Changed are the names of the files that differ, sorted.
	Changed []string
	// Problem is the reason, in Markdown, why it is not known which projects the pull request changes; "" if it
	// is known.
	Problem string `json:",omitempty"`
}

// A Scope says on which files a plan depends, besides the project's own files.
type Scope struct {
	Read  []string // paths that file functions looked at
	Whole bool     // on all files: the plan may run programs, which can read any file
}

// Discovered has the projects and the settings of a checkout.
type Discovered struct {
	Projects []project.Project
	Problem  string // the errors in the repository's settings, in Markdown; "" for none
	// Settings is the name of the file with the settings; "" for none. Notes are sentences about that file for
	// people, in Markdown.
	Settings string   `json:",omitempty"`
	Notes    []string `json:",omitempty"`
	// Unguarded are the require and policy blocks that apply to no project. Unheld describes the first of them
	// in one line. On a base branch, such a block blocks all applies.
	Unguarded []Warning `json:",omitempty"`
	Unheld    string    `json:",omitempty"`
	// Warnings are the warnings about the settings. Left are the root modules that are not projects; one of
	// the warnings lists them: see [project.Repository].
	Warnings []Warning         `json:",omitempty"`
	Left     []project.Project `json:",omitempty"`
}

// A Warning is a sentence for people, in Markdown, with its place: "lockstep.hcl:3", or "".
type Warning struct{ Text, At string }

// Markdown returns the warning as an item of a list.
func (w Warning) Markdown() string {
	if w.At == "" {
		return w.Text
	}
	return w.Text + " (" + markdown.Code(w.At) + ")"
}

// ErrNoProject reports that a project is not in a checkout.
var ErrNoProject = errors.New("the project is not in the checkout")
