// Package events has the events of a run, as values, for displays of its progress. It does not depend on its
// listeners. Start at [Event].
package events

import (
	"time"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// Kind is the kind of an event.
type Kind byte

const (
	RefreshStart Kind = iota + 1
	RefreshDone
	ApplyStart // also for reads of data sources: see Action
	ApplyDone
	ApplyFailed
	ApplySpared // a planned deletion for which no provider was called: the object is current or gone
	ProvisionStart
	ProvisionOutput
	ProvisionDone
	ProvisionFailed
	ImportStart    // the provider is asked for the object with this ID or Identity
	EphemeralStart // opening, renewing or closing an ephemeral resource: see Text
	EphemeralDone
	EphemeralFailed
	Planned       // a resource instance got its change
	ApplyProgress // an action is still under way; sent by views that keep time, not by the engine
	InvokeStart   // an action block is invoked: see Invocation
	InvokeProgress
	InvokeDone
	InvokeFailed
)

// An Event reports something that happened to one object.
type Event struct {
	Kind   Kind
	Addr   addrs.ResourceInstanceObject
	Action plans.Action
	ID     string // the object's id attribute, if it has one that is known and not sensitive
	// Identity is the identity by which an import finds the object; "" if it uses an ID.
	Identity string
	Elapsed  time.Duration
	// Provisioner is the type of the running provisioner, and Text a line of its output. For an ephemeral
	// resource, Text is what happens to the resource: "open", "renew" or "close".
	Provisioner string
	// Text can also be a message of the provider about an invoked action, or the error of this action. It may
	// have control characters.
	Text string
	// Invocation is the action that the event is about; nil for all other events. Addr is then the resource
	// instance that triggers the action, if there is one.
	Invocation *plans.Invocation
}

// Listener is called for each event, from many goroutines at once. It must return quickly.
type Listener func(Event)

// Send calls l if it is not nil.
func (l Listener) Send(e Event) {
	if l != nil {
		l(e)
	}
}
