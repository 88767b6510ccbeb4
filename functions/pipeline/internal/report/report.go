// Package report writes everything that people read on a pull request: the status comment, the answers to
// commands, and the check runs. All of it is made from records, so any process can make it once more at any
// time.
//
// Comments have one writer. [Reporter.Sync] runs only for messages of the events queue, and those of a pull
// request are handled one after another. A process that plans or applies adds replies to records
// ([Reporter.Reply]) and asks for a sync ([Reporter.AtRest]). A process that changes the phase of a run also
// writes its check run. Projects of a pull request after the first 50 share check runs: shared.go says who writes those.
//
// The package does not know why something was decided. Package comment writes the texts. Start reading at
// [Reporter].
package report

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/github"
)

// A Reporter writes on a pull request, while a message about this pull request is handled.
type Reporter struct {
	Facts     *gatefacts.Reader
	Hub       Hub
	Ledger    ledger.Ledger
	Leases    *ledger.Holder
	Artifacts pipeline.Artifacts
	Queue     pipeline.Queue
	// Secrets are texts that are removed from everything that Lockstep writes.
	Secrets []github.Secret
	// Silent is set if all projects of the base branch are in shadow mode: the reporter then writes nothing on GitHub.
	Silent bool
	// Shadow writes the check about projects in shadow mode. It is called with each status of a pull request that has such
	// projects, and of a pull request in a repository that has only such projects.
	Shadow func(context.Context, ledger.Look) error
	// Made is the hash of the plan that this process has made for the run of its message. The run's check may then contain this
	// hash. "" means none. Set it only after the plan was made: a record proves nothing.
	Made string
	// Where returns, for people, where an artifact is: an address, or a command that fetches it. It is nil if
	// people cannot read artifacts.
	Where func(pipeline.Artifact) string
}

// Clean removes Lockstep's secrets from a text.
func (rp *Reporter) Clean(text string) string {
	for _, s := range rp.Secrets {
		text = s.Redact(text)
	}
	return text
}
