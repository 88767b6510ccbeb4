// Package events has the events of a run, as values, for views of its progress. It refuses to
// know its listeners. Start at [Event].
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
	ApplyStart // also of data reads: see Action
	ApplyDone
	ApplyFailed
	ApplySpared // a deletion that no provider was asked for: the object is the current one of its instance, or gone
	ProvisionStart
	ProvisionOutput
	ProvisionDone
	ProvisionFailed
	ImportStart    // the provider is asked for the object with the ID or the Identity
	EphemeralStart // opening, renewing or closing one: see Text
	EphemeralDone
	EphemeralFailed
	Planned       // a resource instance got its change
	ApplyProgress // an action is still under way; sent by views that keep time, not by the engine
	InvokeStart   // an action block is invoked: see Invocation
	InvokeProgress
	InvokeDone
	InvokeFailed
)

// An Event is one thing that happened to one object.
type Event struct {
	Kind   Kind
	Addr   addrs.ResourceInstanceObject
	Action plans.Action
	ID     string // the object's id attribute, if it has one that is known and not sensitive
	// Identity is what an import finds the object by instead of an ID.
	Identity string
	Elapsed  time.Duration
	// Provisioner is the type of the provisioner at work, Text a line of its output; or the
	// action on an ephemeral resource: "open", "renew" or "close".
	Provisioner string
	// Text of an action that is invoked is a message of the provider, or its error. It may have control characters.
	Text string
	// Invocation is the action that is invoked, in events about one; else nil. Addr is then its caller's, if there is one.
	Invocation *plans.Invocation
}

// Listener is called for each event, from many goroutines at once, and must return soon.
type Listener func(Event)

// Send calls l if it is not nil.
func (l Listener) Send(e Event) {
	if l != nil {
		l(e)
	}
}
