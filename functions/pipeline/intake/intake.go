// Package intake receives GitHub's webhooks. A webhook becomes messages if it is genuine, new, and from a
// repository that is served.
//
//	webhook -> signature -> event -> messages -> served here? -> seen before? -> events queue
//
// Anybody can install a GitHub App that is not private. So [Serves] names the owners and repositories that are
// served, and all others are refused. [Intake.Served] records which IDs their names had, because somebody else
// can get a name later. A body is accepted once, even if it comes again with another GUID.
//
// This package does not know the effects of a message. It calls neither GitHub nor the engine, so a webhook
// is answered in milliseconds. Start reading at [Intake.Receive].
package intake

import "github.com/lockstep-iac/lockstep/functions/pipeline"

// An Intake receives webhooks. It has no state of its own, so any number of them may use the same records.
type Intake struct {
	Records pipeline.Records
	Queue   pipeline.Queue
	// Serves are the owners and repositories that are served. Webhooks of all others are refused.
	Serves Serves
	// Log gets the refused deliveries; it may be nil.
	Log func(error)
}
