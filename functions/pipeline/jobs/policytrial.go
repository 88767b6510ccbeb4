package jobs

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// A TryPoliciesFunc checks those policies in a checkout that a pull request changes, and returns the blocks
// with errors. It judges no plan. The author of the pull request has written the policies. So, if the check
// takes too much time or memory, the error is a *DeathError.
type TryPoliciesFunc func(ctx context.Context, dir string, r PolicyTrial) ([]TriedPolicies, error)

// A PolicyTrial says which policies in a checkout to check.
type PolicyTrial struct {
	// Files are the files that the pull request changes. nil means that they are not known; all policies are
	// then checked.
	Files []string
	// Were are the policy blocks of the base branch.
	Were []requirements.Policy
}

// TriedPolicies is a policy block with errors, so that it could not judge any plan.
type TriedPolicies struct {
	Name string
	Dir  string // of the policies
	// Mistakes are the errors, each with its file. The path is relative to Dir, or to the block's data
	// directory if the file is there. More is how many errors are left out.
	Mistakes []string
	More     int
}
