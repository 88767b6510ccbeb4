package budget

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
)

// Entered is a place that is being evaluated.
type Entered struct {
	b          *Budget
	what       fmt.Stringer
	at         interface{ Range() hcl.Range }
	prev, next *Entered
}

// Enter notes that something is being evaluated, until [Entered.Leave] is called: what
// names it, or is nil; at tells where it stands. Both are asked only if somebody wants
// to know, by any goroutine.
func (b *Budget) Enter(what fmt.Stringer, at interface{ Range() hcl.Range }) *Entered {
	if b == nil {
		return nil
	}
	e := &Entered{b: b, what: what, at: at}
	b.mu.Lock()
	e.prev, e.next = b.places.prev, &b.places
	e.prev.next, b.places.prev = e, e
	b.mu.Unlock()
	return e
}

// Leave says that the evaluation has ended.
func (e *Entered) Leave() {
	if e == nil {
		return
	}
	e.b.mu.Lock()
	e.prev.next, e.next.prev = e.next, e.prev
	e.b.mu.Unlock()
}

// Place returns what is being evaluated, such as "local.x at main.tf:12"; "" if nothing
// is. If several expressions are, it is that which has been evaluated for the longest time.
func (b *Budget) Place() string {
	if b == nil {
		return ""
	}
	b.mu.Lock()
	e := b.places.next
	b.mu.Unlock()
	if e == &b.places {
		return ""
	}
	r := e.at.Range()
	where := fmt.Sprintf("%s:%d", r.Filename, r.Start.Line)
	if e.what == nil {
		return where
	}
	if what := e.what.String(); what != "" {
		return what + " at " + where
	}
	return where
}
