package demo

import (
	"context"
	"sync"
)

// broadcast tells many that something has happened, by a number that grows.
type broadcast struct {
	mu      sync.Mutex
	version uint64
	next    chan struct{} // closed with the next one
}

func newBroadcast() *broadcast { return &broadcast{version: 1, next: make(chan struct{})} }

func (b *broadcast) send() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.version++
	close(b.next)
	b.next = make(chan struct{})
}

// wait returns the number when it is another than since, or ctx has ended.
func (b *broadcast) wait(ctx context.Context, since uint64) uint64 {
	for {
		b.mu.Lock()
		version, next := b.version, b.next
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
