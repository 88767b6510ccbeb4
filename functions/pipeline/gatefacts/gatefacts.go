// Package gatefacts reads all facts for the gate, just before the gate decides: the pull request and its trial
// merge, the permission of the user who gave the command, the settings of the base branch, the address of the
// project's state, and the plan that GitHub shows.
//
// Rights are read only from the base branch: the files of a pull request grant its author nothing. Before a
// state is first read, the package claims its address for the project. It writes nothing else.
//
// The package does not decide. The rules are in package admission, and the requirements in package
// requirementrules. Start reading at [Reader.Look] and [Reader.Ask].
package gatefacts

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/requirementrules"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/github"
)

// A Reader reads facts while one message is handled. Only one goroutine may use it.
type Reader struct {
	Message  pipeline.Message
	Hub      Hub
	Ledger   ledger.Ledger
	Projects jobs.Projects
	// FindUnits finds the units of Terragrunt in a checkout. If it is nil, none can be found.
	FindUnits jobs.FindUnitsFunc
	// Serves reports whether Lockstep works for a repository under its present name. nil means that it works
	// for all.
	Serves func(context.Context, github.Repo) (bool, error)
	// States are the patterns of addresses that every repository may use for its own states.
	States places.Own
	// Deployment is the name of this deployment.
	Deployment string
	// Scratch is the directory for checkouts; "" means the system's.
	Scratch string
	// Runners are the runners that environments may name in this deployment.
	Runners []string
	// Checkouts keeps checkouts that this process may use again; nil keeps none.
	Checkouts *Checkouts
	// Bases caches what this process has read of commits of base branches.
	Bases *Bases

	// Pull is the pull request as [Reader.Look] or [Reader.TrialMerge] has last read it.
	Pull github.PullRequest
	// permission is the permission of the user who has given the command.
	permission github.Permission
	// commits are the SHAs of the checkouts, by directory.
	commits map[string]string
	// named caches, by branch, whether the default branch's settings name the branch.
	named map[string]bool
	// read caches the settings, by the SHA of their commit.
	read map[string]readSettings
	// tip is the commit of the base branch from which [SettingsNow] has read the settings. The next function that
	// needs the tip takes this commit, once, instead of asking GitHub.
	tip tipOf
	// elsewhere has the policies that are in other repositories. It is nil before they are read.
	elsewhere *policyRepositories
	// required has the settings with the requirements. It is nil before they are read.
	required *required
	// afterwards is set if the field required has the settings of the present base branch. Otherwise it has the
	// settings at the merge.
	afterwards bool
	// watched are the facts on which the decisions of MissingRequirements and DecideDeniedAgain depend.
	watched *watched
	// unasked is set while the reader decides about an apply that nobody has requested. The question is then
	// not recorded. Instead, a [pipeline.Watch] is kept, so that changes of the facts are noticed.
	unasked bool
	// decided is the question about requirements that was decided last, with its facts; nil if there was none.
	decided *requirementrules.Question
	// asked is the latest question about the address of a state that this reader has put to the gate.
	asked *admission.PlaceQuestion
}
