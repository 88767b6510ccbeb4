package operation

import (
	"sync"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/plans/counting"
)

// A Tally counts the actions that an apply begins and completes. It learns about them from the apply's events.
// A replacement counts as two actions: a deletion and a creation. A Tally is safe for concurrent use.
type Tally struct {
	mu      sync.Mutex
	planned []Action
	invokes []*plans.Invocation
	deposes map[addrs.ResourceInstanceObject]bool // the objects that their successors depose
	begun   map[Action]bool
	done    counting.Counts
}

// An Action is one action of an apply: Create, Update or Delete of an object.
type Action struct {
	Object addrs.ResourceInstanceObject
	Verb   plans.Action
}

func newTally(p *plans.Plan) *Tally {
	t := &Tally{begun: map[Action]bool{}, deposes: map[addrs.ResourceInstanceObject]bool{}, invokes: p.Invocations}
	for _, c := range p.Changes {
		switch {
		case c.Action == plans.Create, c.Action == plans.Update, c.Action == plans.Delete:
			t.planned = append(t.planned, Action{c.Addr, c.Action})
		case c.KeepsOld:
			t.planned = append(t.planned, Action{c.Addr, plans.Create})
		case c.Action.IsReplace():
			t.deposes[c.Addr] = c.Action == plans.CreateThenDelete
			t.planned = append(t.planned, Action{c.Addr, plans.Delete}, Action{c.Addr, plans.Create})
		}
	}
	return t
}

// goOn counts the actions that earlier processes have completed, according to p. p is nil if there were none.
func (t *Tally) goOn(p *journaling.Progress) {
	if p == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range t.invokes {
		if call, begun := p.Invocation(x); begun {
			t.done.Invoke++
			if call.Failed {
				t.done.InvokeFailed++
			}
		}
	}
	for _, a := range t.planned {
		at := a.Object
		if a.Verb == plans.Delete && t.deposes[at] {
			at.Deposed, _ = p.Deposed(at.Instance)
		}
		call, begun := p.Call(at, a.Verb)
		if !begun && at.Deposed != addrs.NotDeposed && p.State.Object(at) == nil {
			t.begun[a] = true // it was not needed any more
			continue
		}
		if !begun || call.Open && a.Verb != plans.Create {
			continue // or begun again
		}
		t.begun[a] = true
		if !call.Open && !call.Failed {
			t.done = a.Verb.Count(t.done)
		}
	}
}

// before returns a listener that counts each event, and then passes it on to next, which may be nil.
func (t *Tally) before(next events.Listener) events.Listener {
	return func(e events.Event) {
		t.count(e)
		next.Send(e)
	}
}

func (t *Tally) count(e events.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e.Kind {
	case events.ApplyStart:
		t.begun[Action{e.Addr, e.Action}] = true
	case events.ApplySpared:
		t.begun[Action{e.Addr, e.Action}] = true
	case events.ApplyDone:
		t.done = e.Action.Count(t.done)
	case events.InvokeStart:
		t.done.Invoke++
	case events.InvokeFailed:
		t.done.InvokeFailed++
	}
}

// Done returns the numbers of completed actions, and of action blocks that were invoked. Imports are not actions.
func (t *Tally) Done() counting.Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.done
}

// Left returns the planned actions that the apply has not begun, in the order of the plan.
func (t *Tally) Left() []Action {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []Action
	for _, a := range t.planned {
		if !t.begun[a] {
			out = append(out, a)
		}
	}
	return out
}
