package page

import (
	"context"
	"sync"
)

// A Changes wakes all waiting goroutines when the content of the site has changed. It has a growing number: the
// version of the site. The zero value is ready to use, and must not be copied.
type Changes struct {
	mu   sync.Mutex
	rung uint64
	next chan struct{} // closed by the next change; nil if nobody waits
}

// Changed increases the version, so that all calls of Wait return.
func (b *Changes) Changed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rung++
	if b.next != nil {
		close(b.next)
	}
	b.next = make(chan struct{})
}

// Wait waits until the version differs from since, or until ctx ends, and returns the version, as
// [Site.Changed] requires.
func (b *Changes) Wait(ctx context.Context, since uint64) uint64 {
	for {
		b.mu.Lock()
		if b.next == nil {
			b.next = make(chan struct{})
		}
		version, next := b.rung+1, b.next
		b.mu.Unlock()
		if version != since {
			return version
		}
		select {
		case <-next:
		case <-ctx.Done():
			return version
		}
	}
}
