// Package gatefacts reads all facts for the gate, just before the gate decides. It reads the pull request and
// its trial merge, the permission of the user who asks, the settings of the base branch, the address of the
// project's state, and the plan on GitHub.
//
// Grants are read from the base branch only: the files of a pull request grant its author nothing. The package
// claims the address of a state before the state is first read. The package writes nothing else.
//
// This package does not decide. The rules are in package admission, and the requirements in package
// requirementrules. Start reading at [Reader.Look] and [Reader.Ask].
package gatefacts

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/github"
)

// A Reader reads the facts for one message. One goroutine uses it.
type Reader struct {
	Message  pipeline.Message
	Hub      Hub
	Ledger   ledger.Ledger
	Projects jobs.Projects
	// Serves reports whether a repository is served under its present name; nil means that all are.
	Serves func(context.Context, github.Repo) (bool, error)
	// States are the patterns of addresses that every repository may use for its own states.
	States places.Own
	// Deployment is the name of our deployment.
	Deployment string
	// Scratch is the directory for checkouts; "" means the system's.
	Scratch string
	// Runners are the runners that environments may name in this deployment.
	Runners []string
	// Bases caches the commits of base branches that this process has read.
	Bases *Bases

	// Pull is the pull request as [Reader.Look] and [Reader.TrialMerge] last saw it.
	Pull github.PullRequest
	// permission is the actor's permission.
	permission github.Permission
	// commits are the SHAs of the checkouts, by directory.
	commits map[string]string
	// named caches, by branch, whether the default branch's settings name it.
	named map[string]bool
	// read caches the settings, by the SHA of their commit.
	read map[string]readSettings
	// elsewhere are policies in other repositories; nil before they are read.
	elsewhere *policyRepositories
	// required are the settings with the requirements; nil before they are read.
	required *required
	// afterwards is set if the field required has the present settings of the base branch, rather than the
	// settings at the merge.
	afterwards bool
	// watched are the facts behind the decisions of MissingRequirements and DecideDeniedAgain.
	watched *watched
	// unasked is set while the reader decides about an apply that nobody has asked for. Then the question is
	// not recorded, and a [pipeline.Watch] is kept for the decision.
	unasked bool
	// asked is the last question about the address of a state.
	asked *admission.PlaceQuestion
}
