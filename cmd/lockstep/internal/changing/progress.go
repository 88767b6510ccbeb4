package changing

import (
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/events"
)

// progressEvery is the interval between two reports that an action is still running.
const progressEvery = 10 * time.Second

// A progress passes events on to another listener. While an action on an object is slow, it also sends an event
// at every interval, so that the user sees that the action is still running.
type progress struct {
	next events.Listener
	done chan struct{}
	idle sync.WaitGroup

	mu       sync.Mutex
	underWay map[addrs.ResourceInstanceObject]*action
}

// An action is an action in progress, with the time of its start.
type action struct {
	event events.Event
	since time.Time
	told  time.Duration // elapsed at the last report
}

// keepTime returns a progress that passes events on to next, and that also sends next the reports about slow
// actions. Call its method stop to end these reports.
func keepTime(next events.Listener) *progress {
	p := &progress{next: next, done: make(chan struct{}), underWay: map[addrs.ResourceInstanceObject]*action{}}
	p.idle.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-p.done:
				return
			case <-tick.C:
				p.tell()
			}
		}
	})
	return p
}

// stop ends the reports about slow actions.
func (p *progress) stop() {
	close(p.done)
	p.idle.Wait()
}

// event passes an event on to the next listener. It also records the actions that start and end.
func (p *progress) event(e events.Event) {
	p.mu.Lock() // locked until the event was passed on, so that no report about an action comes after its end
	defer p.mu.Unlock()
	switch e.Kind {
	case events.ApplyStart:
		p.underWay[e.Addr] = &action{event: e, since: time.Now()}
	case events.ApplyDone, events.ApplyFailed:
		delete(p.underWay, e.Addr)
	}
	p.next.Send(e)
}

// tell sends a report for each action in progress that was started or last reported one interval ago.
func (p *progress) tell() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.underWay {
		if elapsed := time.Since(a.since); elapsed >= a.told+progressEvery {
			a.told = elapsed.Truncate(progressEvery)
			e := a.event
			e.Kind, e.Elapsed = events.ApplyProgress, a.told
			p.next.Send(e)
		}
	}
}
