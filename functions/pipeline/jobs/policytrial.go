package jobs

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// A TryPoliciesFunc tries those policies of a checkout that a pull request changes. It finds broken policies
// and judges no plan. The author of the policies opened the pull request, so the error is a *DeathError if
// the trial takes too much time or memory.
type TryPoliciesFunc func(ctx context.Context, dir string, r PolicyTrial) ([]TriedPolicies, error)

// A PolicyTrial says which policies of a checkout are tried.
type PolicyTrial struct {
	// Files are the files that the pull request changes. nil means that they are unknown, and all policies are
	// tried.
	Files []string
	// Were are the policy blocks of the base branch.
	Were []requirements.Policy
}

// TriedPolicies is a broken policy block: it could not judge any plan.
type TriedPolicies struct {
	Name string
	Dir  string // of the policies
	// Mistakes are the defects, each with its file. The path begins at Dir, or at the block's data directory if
	// the file is there. More is the number of defects that are left out.
	Mistakes []string
	More     int
}
