// Package intake receives GitHub's webhooks. A webhook becomes messages if it is genuine and new, and if
// Lockstep works for its repository.
//
//	webhook -> signature -> event -> messages -> served here? -> seen before? -> events queue
//
// Anybody can install a GitHub App that is not private. So [Serves] lists the owners and repositories for which
// Lockstep works, and all others are refused. [Intake.Served] records which IDs their names had, because
// somebody else can get a name later. A body is accepted once, even if it comes once more with another GUID.
//
// The package does not know the effects of a message. It sends no request to GitHub and does not call the
// engine, so a webhook is answered in milliseconds. Start reading at [Intake.Receive].
package intake

import "github.com/lockstep-iac/lockstep/functions/pipeline"

// An Intake receives webhooks. It contains no state, so several may use the same records.
type Intake struct {
	Records pipeline.Records
	Queue   pipeline.Queue
	// Serves are the owners and repositories for which Lockstep works. Webhooks of all others are refused.
	Serves Serves
	// Log is called with the reason for each refused webhook. It may be nil.
	Log func(error)
}
