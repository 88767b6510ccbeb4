// Package operating plans and applies one project of a checkout with our engine: it
// is package run's socket for engine and states.
//
// What is in a checkout was written by whoever opened the pull request, and planning
// it runs what is in it. So nothing of it is trusted: modules and file functions see
// the checkout and nothing else of the machine ([Engine.open]); provisioners, and
// providers that are not allowed, are refused before anything is started; a process
// that is started gets none of our environment; where the state of a "local" backend
// lives is not theirs to say. What is reported has sensitive values taken out, also
// where a message quotes one.
//
// The package refuses to know GitHub and the rules of who may do what: run's gate is
// asked through a func, with the state locked. Start at [Engine].
package operating

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/run"
	"github.com/lockstep-iac/lockstep/functions/run/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/local"
)

// An Engine implements run.Engine. It may be used by many goroutines.
type Engine struct {
	// Version is Lockstep's own: saved plans are for the same one only.
	Version string
	// Backend opens the backend of a project; settings are what its configuration
	// says, nil if nothing.
	Backend BackendFunc
	// Allowed says which providers may be started, beside the built-in one, which
	// starts nothing. nil allows no other.
	Allowed func(addrs.Provider) bool
	// DataDir is a directory with providers as init installs them; "" is an empty one.
	// It is never one of the checkout's.
	DataDir string
	// Rescued is the directory for states that their backend did not take.
	Rescued string
}

var _ run.Engine = (*Engine)(nil)

// A BackendFunc opens the backend of a job.
type BackendFunc func(ctx context.Context, j run.Job, s *workdir.Settings) (statebackend.Backend, diags.Diagnostics)

// LocalStates keeps the states of all projects in a directory, under repository,
// project and workspace, whatever path their "local" backend names. Other backends
// are refused.
func LocalStates(dir string) BackendFunc {
	return func(ctx context.Context, j run.Job, s *workdir.Settings) (statebackend.Backend, diags.Diagnostics) {
		if s != nil && s.Type != "local" {
			return nil, diags.Errorf(nil, "Backend not available", "The configuration keeps its state in the backend %q, and only states on this machine are available here.", s.Type)
		}
		at := filepath.Join(dir, url.PathEscape(j.Repo.Owner), url.PathEscape(j.Repo.Name), segment(j.Project), segment(j.Workspace))
		b, err := local.Open(nil, local.Options{Dir: at})
		if err != nil {
			return nil, diags.FromError("Error configuring the backend", err)
		}
		return b, nil
	}
}

// segment makes any name the name of a directory.
func segment(name string) string {
	switch name = url.PathEscape(name); name {
	case ".", "..":
		return "%2E" + name[1:]
	}
	return name
}

// describe is for errors: which project it is about.
func describe(j run.Job) string { return fmt.Sprintf("%s in %s", j.Project, j.Repo) }
