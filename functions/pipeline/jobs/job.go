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
	// Owner says, in the state's lock, who holds it: "lockstep acme/infra#7".
	Owner string
	// VarFiles are the files with values of variables that lockstep.hcl names,
	// slash-separated, from the checkout.
	VarFiles []string
	// Grants are what the base branch allows to be run.
	Grants project.Grants
	// State is where the project's state is, as it was granted: no other one is opened.
	// If it is nowhere, NoState says why, for people.
	State   places.Place
	NoState string
	// Writes says that the state may be written; an Engine sets it where it applies.
	Writes bool
	// StopStarting is when an apply must not begin another change; what is begun comes to
	// its end. The zero value sets no such time.
	StopStarting time.Time
}
