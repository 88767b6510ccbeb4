// Package report writes everything that people read on a pull request: the status comment,
// the answers to commands, and the check runs. All of it is made from records, so it can be
// made again at any time, and by any process.
//
// Comments have one writer: [Reporter.Sync] runs for messages of the events queue only, which
// handles those of a pull request one after the other. Whoever plans or applies puts replies
// into records ([Reporter.Reply]) and asks for a sync ([Reporter.AtRest]). Check runs are
// written by whoever moves a run.
//
// The package refuses to know why something was decided; the words are those of package
// comment. Start at [Reporter].
package report

import (
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/github"
)

// A Reporter writes on one pull request while a message about it is handled.
type Reporter struct {
	Facts     *gatefacts.Reader
	Hub       Hub
	Ledger    ledger.Ledger
	Leases    *ledger.Holder
	Artifacts pipeline.Artifacts
	Queue     pipeline.Queue
	// Secrets are taken out of everything that is written.
	Secrets []github.Secret
	// Made is the hash of a plan that this message has made in the place of another one: the check
	// may name it. "" if there is none.
	Made string
	// Where names the place where people find an artifact: an address, or a command that
	// fetches it. nil if they cannot.
	Where func(pipeline.Artifact) string
}

// Clean removes our own secrets from a text.
func (rp *Reporter) Clean(text string) string {
	for _, s := range rp.Secrets {
		text = s.Redact(text)
	}
	return text
}
