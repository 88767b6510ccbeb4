// Package intake takes the webhooks of GitHub: it makes messages of those that are true,
// new, and from a repository that is served.
//
//	webhook -> signature -> event -> messages -> served here? -> seen before? -> events queue
//
// A GitHub App that is not private can be installed by anybody. So strangers are turned
// away at the door: [Serves] names the owners and repositories that are served, and
// [Intake.Served] remembers which IDs their names had, since names change hands. A body is
// accepted once, under whatever GUID it comes again.
//
// The package refuses to know the effects of a message, and calls neither GitHub nor the
// engine: a webhook is answered in milliseconds. Start at [Intake.Receive].
package intake

import "github.com/lockstep-iac/lockstep/functions/pipeline"

// An Intake takes webhooks. It keeps nothing itself, so any number of them may work on the
// same records.
type Intake struct {
	Records pipeline.Records
	Queue   pipeline.Queue
	// Serves are the owners and repositories that are served; all others are turned away.
	Serves Serves
	// Log gets the deliveries that are turned away; may be nil.
	Log func(error)
}
