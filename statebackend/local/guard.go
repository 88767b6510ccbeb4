package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// errBusy means that somebody else has the lock or the guard.
var errBusy = errors.New("in use by another process")

// mode says whether a guard excludes other readers.
type mode int

const (
	shared    mode = iota // with other readers
	exclusive             // alone
)

// These are the longest waits for a guard. A guard is held for one read or one rewrite of a file. So a longer
// wait means that something hangs, or that the file system treats guard and lock as one lock (NFS does). A
// reader or a holder of the lock then continues without a guard.
const (
	readerPatience = 1 * time.Second
	holderPatience = 500 * time.Millisecond
	writerPatience = 10 * time.Second
	guardPause     = 2 * time.Millisecond
)

// guard takes an advisory lock of another kind (flock) on the state file. Only Lockstep uses it: stock tools
// do not know it, and it does not conflict with their lock. It lasts for one read or write, and ends with the
// process, so no person ever has to release it.
func guard(ctx context.Context, f *os.File, m mode, patience time.Duration) (release func(), err error) {
	for start := time.Now(); ; {
		switch err := flock(f, m); {
		case err == nil:
			return func() { unflock(f) }, nil
		case !errors.Is(err, errBusy):
			return func() {}, nil // the file system has no such locks
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
