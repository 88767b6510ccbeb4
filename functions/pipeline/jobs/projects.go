package jobs

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// Projects reads the projects of a checkout. The author of a pull request wrote the checkout, so reading may
// take any amount of time and memory. If it exceeds a limit, the error is a *DeathError.
type Projects interface {
	Discover(ctx context.Context, dir string) (Discovered, error)
	// Inputs returns the files of a checkout that a project's plan depends on. The error wraps ErrNoProject if
	// the checkout does not have the project.
	Inputs(ctx context.Context, dir string, r runs.Run, s Scope) (project.Tree, error)
	// Touched finds the projects that differ between two checkouts.
	Touched(ctx context.Context, c Comparison) (Compared, error)
}

// A Comparison compares the checkout Now with the checkout Was of its base: see [project.Touched]. Had are
// the projects of Was, and Has are the projects of Now.
type Comparison struct {
	Was, Now string
	Had, Has []project.Project
	// Seen are the files that plans have read, by target: see [runs.ID.Target].
	Seen map[string][]project.FilesRead `json:",omitempty"`
}

// Compared is the result of a [Comparison].
type Compared struct {
	// Touched are the targets of the projects whose plans may differ.
	Touched []string
	// Changed are the names of the files that differ, sorted.
	Changed []string
	// Problem is the reason, in Markdown, why the touched projects are unknown; "" for none.
	Problem string `json:",omitempty"`
}

// A Scope says which files a plan depends on in addition to the project's own files.
type Scope struct {
	Read  []string // paths that file functions looked at
	Whole bool     // all files: programs may run and read anything
}

// Discovered has the projects and the settings of a checkout.
type Discovered struct {
	Projects []project.Project
	Problem  string // the errors in the repository's settings, in Markdown; "" for none
	// Settings is the name of the file with the settings; "" for none. Notes are sentences about that file for
	// people, in Markdown.
	Settings string   `json:",omitempty"`
	Notes    []string `json:",omitempty"`
	// Unguarded are the require and policy blocks that apply to no project. Unheld is the first of them, as one
	// line. On a base branch such a block blocks all applies.
	Unguarded []Warning `json:",omitempty"`
	Unheld    string    `json:",omitempty"`
	// Warnings are the warnings about the settings. Left are the root modules that are not projects; one of the
	// warnings names them: see [project.Repository].
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
