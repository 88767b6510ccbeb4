package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// errBusy means that somebody else holds the lock or the guard.
var errBusy = errors.New("in use by another process")

// mode is how a guard is held.
type mode int

const (
	shared    mode = iota // with other readers
	exclusive             // alone
)

// How long a guard is waited for. It is held for one read or one rewriting of a
// file, so a longer wait means that something hangs, or that the file system
// makes one lock of the guard and the lock (NFS does). A reader or a holder of
// the lock then goes on without.
const (
	readerPatience = 1 * time.Second
	holderPatience = 500 * time.Millisecond
	writerPatience = 10 * time.Second
	guardPause     = 2 * time.Millisecond
)

// guard holds an advisory lock of the other kind (flock) on the state file. It
// is ours alone: no stock tool knows it, and it does not get in the way of
// the lock that they know. It is not for people either: it lasts for one read
// or write, and ends with the process.
func guard(ctx context.Context, f *os.File, m mode, patience time.Duration) (release func(), err error) {
	for start := time.Now(); ; {
		switch err := flock(f, m); {
		case err == nil:
			return func() { unflock(f) }, nil
		case !errors.Is(err, errBusy):
			return func() {}, nil // a file system without such locks
		}
		if time.Since(start) > patience {
			if m == shared {
				return func() {}, nil
			}
			return nil, fmt.Errorf("%s is being written: %w", f.Name(), errBusy)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(guardPause):
		}
	}
}
