package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// Projects reads what a checkout says of its projects. It was written by whoever opened the
// pull request, and reading it may take any time and memory: an error that is a *DeathError
// says that it took too much.
type Projects interface {
	Discover(ctx context.Context, dir string) (Discovered, error)
	// Inputs returns what a plan of a project depends on in a checkout. The error wraps
	// ErrNoProject if there is no such one.
	Inputs(ctx context.Context, dir string, r Run, s Scope) (project.Tree, error)
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

// Here reads projects in our own process.
type Here struct{}

var _ Projects = Here{}

// Discover implements Projects.
func (Here) Discover(_ context.Context, dir string) (Discovered, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Discovered{}, err
	}
	defer root.Close()
	all, ds := project.Discover(root.FS())
	d := Discovered{Projects: all}
	if ds.HasErrors() {
		d.Problem = trouble(ds)
	}
	return d, nil
}

// Inputs implements Projects. A checkout may have another idea of the project than the one
// that was planned.
func (Here) Inputs(_ context.Context, dir string, r Run, s Scope) (project.Tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	all, _ := project.Discover(root.FS())
	for _, p := range all {
		switch {
		case p.Name != r.Project || p.Workspace != r.Workspace:
		case s.Whole:
			return project.Everything(root.FS(), p)
		default:
			return project.Inputs(root.FS(), p, s.Read...)
		}
	}
	return nil, fmt.Errorf("%w: %s", ErrNoProject, r.Project)
}

// projects are the pipeline's.
func (p *Pipeline) projects() Projects {
	if p.Projects == nil {
		return Here{}
	}
	return p.Projects
}

// A DeathError says that the process which was to read, plan or apply something has ended
// before it was done: at a limit, or by what it was given. Doing it again would do the same.
type DeathError struct {
	What  string // it was doing: "planning `net`", in Markdown
	Why   string // a sentence: "It took more than 512 MiB of memory."
	Place string // that was being evaluated, or ""
	// Remedy is what people can do about it, in Markdown.
	Remedy string
}

// Error implements error.
func (e *DeathError) Error() string {
	text := e.What + " was ended: " + e.Why
	if e.Place != "" {
		text += " It was at " + e.Place + "."
	}
	return text
}

// Markdown is the error for people, with what they can do.
func (e *DeathError) Markdown() string {
	text := fmt.Sprintf("**%s was ended before it was done.** %s", e.What, e.Why)
	if e.Place != "" {
		text += fmt.Sprintf(" It was at %s.", comment.Code(e.Place))
	}
	return text + "\n\n" + e.Remedy
}
