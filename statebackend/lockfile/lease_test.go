package lockfile

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// lax is a store whose deletions ignore the condition.
type lax struct{ *script }

func (l lax) Delete(context.Context, string, string) error {
	l.data = nil
	return nil
}

// TestReleaseOnALaxServer holds that the release of a lock which has passed to somebody else deletes nothing, though the
// server would.
func TestReleaseOnALaxServer(t *testing.T) {
	first := statebackend.Lease{Lock: mine.ID, Fence: 1, Holder: "h"}.As(statebackend.Term{Run: "r", Until: time.Now()})
	next := first
	next.Fence, next.Holder = 2, "x"
	next = next.As(first.Term)
	info := mine
	info.Info = statebackend.LeaseInfo("", "r", "")
	for name, passed := range map[string][]byte{
		"taken over":          info.WithLease(next).Marshal(),
		"released, and taken": theirs.Marshal(),
	} {
		for _, leased := range []bool{true, false} {
			s := new(script)
			f := &File{Objects: lax{s}, Key: "k", Path: "state", Leases: leased}
			lock, unlock := func() error { return f.Lock(t.Context(), mine) }, func() error { return f.Unlock(t.Context(), mine.ID) }
			if leased {
				lock, unlock = func() error { return f.LockLeased(t.Context(), info, first) }, func() error { return f.UnlockLeased(t.Context(), first) }
			} else if name == "taken over" {
				continue // the ID is the same
			}
			if err := lock(); err != nil {
				t.Fatal(err)
			}
			s.data = passed
			var lost *statebackend.LockLostError
			var mismatch *statebackend.LockMismatchError
			if err := unlock(); !errors.As(err, &lost) && !errors.As(err, &mismatch) {
				t.Errorf("%s, leased %t: %v", name, leased, err)
			}
			if string(s.data) != string(passed) {
				t.Errorf("%s, leased %t: left is %q", name, leased, s.data)
			}
		}
	}
}
