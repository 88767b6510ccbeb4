package budget

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
)

// A Place is an expression under evaluation. String is its name, such as "local.x", or "". The methods are
// called only by [Budget.Place], and from any goroutine.
type Place interface {
	String() string
	Range() hcl.Range
}

// Entered is a place that is being evaluated.
type Entered struct {
	b          *Budget
	place      Place
	prev, next *Entered
}

// Enter notes that p is being evaluated, until [Entered.Leave] is called.
func (b *Budget) Enter(p Place) *Entered {
	if b == nil {
		return nil
	}
	e := &Entered{b: b, place: p}
	b.mu.Lock()
	e.prev, e.next = b.places.prev, &b.places
	e.prev.next, b.places.prev = e, e
	b.mu.Unlock()
	return e
}

// Leave notes the end of the evaluation.
func (e *Entered) Leave() {
	if e == nil {
		return
	}
	e.b.mu.Lock()
	e.prev.next, e.next.prev = e.next, e.prev
	e.b.mu.Unlock()
}

// Place returns the expression under evaluation, such as "local.x at main.tf:12"; "" if there is none. If
// there are several, it returns the one that has been under evaluation for the longest time.
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
	r := e.place.Range()
	where := fmt.Sprintf("%s:%d", r.Filename, r.Start.Line)
	if what := e.place.String(); what != "" {
		return what + " at " + where
	}
	return where
}
