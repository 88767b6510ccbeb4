package jobs

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// A TryPoliciesFunc tries the policies in a checkout that a pull request changes, and judges no plan by them. Its author opened the pull
// request: the error is a *DeathError where trying takes too much time or memory.
type TryPoliciesFunc func(ctx context.Context, dir string, r PolicyTrial) ([]TriedPolicies, error)

// A PolicyTrial is the part of a checkout's policies that is tried.
type PolicyTrial struct {
	// Files are the files that the pull request changes; nil: they are unknown, and all policies are tried.
	Files []string
	// Were are the policy blocks of the base branch.
	Were []requirements.Policy
}

// TriedPolicies is a policy block that could decide nothing, whatever the plan.
type TriedPolicies struct {
	Name string
	Dir  string // of the policies
	// Mistakes are the reasons, each with its file from Dir on, or from the directory of its data, if it is in one. More is the
	// number of those left off.
	Mistakes []string
	More     int
}
