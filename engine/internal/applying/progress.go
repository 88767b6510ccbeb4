package applying

import (
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// progress sends the events of one action to listeners. Each beginning has exactly one end, even if no
// provider was called: programs count them, and a person must not wait for an end that never comes.
type progress struct {
	to    events.Listener
	event events.Event
	start time.Time
}

// begin sends the event that an action on an object begins.
func (x *object) begin(verb plans.Action, prior cty.Value) *progress {
	p := &progress{to: x.a.in.Events, start: time.Now()}
	p.event = events.Event{Kind: events.ApplyStart, Addr: x.c.Addr, Action: verb, ID: session.ObjectID(prior)}
	p.to.Send(p.event)
	return p
}

// spared sends the event for a deletion that turned out to be unnecessary.
func (x *object) spared() {
	x.a.in.Events.Send(events.Event{Kind: events.ApplySpared, Addr: x.c.Addr, Action: plans.Delete})
}

// made records the new value of the object, for the end event.
func (p *progress) made(v cty.Value) {
	if id := session.ObjectID(v); id != "" {
		p.event.ID = id
	}
}

// end sends the event that the action has ended.
func (p *progress) end(failed bool) {
	p.event.Kind, p.event.Elapsed = events.ApplyDone, time.Since(p.start)
	if failed {
		p.event.Kind = events.ApplyFailed
	}
	p.to.Send(p.event)
}
