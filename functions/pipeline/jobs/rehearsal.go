package jobs

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// A RehearseFunc tries the policies in a checkout that a pull request changes, and judges no plan by them. Its author opened the pull
// request: the error is a *DeathError where trying takes too much time or memory.
type RehearseFunc func(ctx context.Context, dir string, r Rehearsal) ([]Rehearsed, error)

// A Rehearsal is the part of a checkout's policies that is tried.
type Rehearsal struct {
	// Files are the files that the pull request changes; nil: they are unknown, and all policies are tried.
	Files []string
	// Were are the policy blocks of the base branch.
	Were []requirements.Policy
}

// Rehearsed is a policy block that could decide nothing, whatever the plan.
type Rehearsed struct {
	Name string
	Dir  string // of the policies
	// Mistakes are the reasons, each with its file from Dir on, or from the directory of its data, if it is in one. More is the
	// number of those left off.
	Mistakes []string
	More     int
}
