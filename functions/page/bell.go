package page

import (
	"context"
	"sync"
)

// A Bell tells many that something has happened, by a number that grows: a site's
// version. The zero Bell works; it must not be copied.
type Bell struct {
	mu   sync.Mutex
	rung uint64
	next chan struct{} // closed when it is rung next; nil if nobody waits
}

// Ring tells everybody.
func (b *Bell) Ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rung++
	if b.next != nil {
		close(b.next)
	}
	b.next = make(chan struct{})
}

// Wait is as [Site.Changed] has to be.
func (b *Bell) Wait(ctx context.Context, since uint64) uint64 {
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
