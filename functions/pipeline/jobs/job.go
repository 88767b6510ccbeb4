package jobs

import (
	"time"

	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// A Job is one project in a checkout.
type Job struct {
	// Checkout is the directory of the checkout, Dir the project's in it,
	// slash-separated.
	Checkout, Dir string
	Project       string
	Workspace     string
	Repo          github.Repo
	Installation  int64  // that has the repository
	Number        int    // of the pull request
	Head          string // SHA of its head
	// Owner is the holder's name in the state's lock: "lockstep acme/infra#7".
	Owner string
	// VarFiles are the files with values of variables that lockstep.hcl names,
	// slash-separated, from the checkout.
	VarFiles []string
	// Grants are the permissions of the base branch.
	Grants project.Grants
	// State is the granted address of the state: no other one is opened. If it has none, NoState is
	// the reason, for people.
	State   places.Place
	NoState string
	// Writes is set if the state may be written; an Engine sets it for an apply.
	Writes bool
	// StopStarting is the time from which an apply begins no more changes; those under way are
	// completed. Zero is no such time.
	StopStarting time.Time
}
