// Package gatefacts reads all facts of the gate, just before it decides: the pull request and its
// trial merge, the permission of the user who asks, the settings of the base branch, the address of
// the project's state, and the plan on GitHub.
//
// Grants are read at the base branch only: a pull request's own files grant its author nothing. The
// address of a state is claimed here, before the state is first read; that is the only write.
//
// The package refuses to decide: the rules are in package admission, and the requirements in package requirementrules. Start at [Reader.Look] and
// [Reader.Request].
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

// A Reader reads facts for the handling of one message. It is used by one goroutine.
type Reader struct {
	Message  pipeline.Message
	Hub      Hub
	Ledger   ledger.Ledger
	Projects jobs.Projects
	// Serves reports whether a repository is served under its present name; nil: all are.
	Serves func(context.Context, github.Repo) (bool, error)
	// States are the patterns of places that every repository may have for states of its own.
	States places.Own
	// Deployment is the name of ours.
	Deployment string
	// Scratch is the directory for checkouts; "" is the system's.
	Scratch string
	// Runners are those that environments may name here.
	Runners []string
	// Bases are the commits of base branches that this process has read.
	Bases *Bases

	// Pull is the pull request as [Reader.Look] and [Reader.Merged] saw it last.
	Pull github.PullRequest
	// permission is the actor's.
	permission github.Permission
	// commits are the SHAs of the checkouts, by their directories.
	commits map[string]string
	// named caches, by branch, whether the default branch's settings name it.
	named map[string]bool
	// read are the settings that were read, by the SHA of their commit.
	read map[string]readSettings
	// elsewhere are policies in other repositories, once they are read.
	elsewhere *policyRepositories
	// required are the settings with the requirements, once they are read.
	required *required
	// afterwards is set if they are those of the base branch since the merge.
	afterwards bool
	// watched are the facts behind the decisions of Missing and Denied.
	watched *watched
	// unasked is set while nobody has asked for what is decided: the question is not kept, and the decision is watched.
	unasked bool
	// asked is the last question about the address of a state.
	asked *admission.PlaceQuestion
}
