package statebackend

import (
	"context"
	"errors"
	"time"
)

// The pauses between attempts double from the first to the longest, as
// Terraform's do.
const (
	firstLockPause   = 1 * time.Second
	longestLockPause = 16 * time.Second
)

// LockWithRetry takes the lock as Lock does. While somebody holds the lock, it tries again until timeout, the
// value of -lock-timeout, has passed. A timeout of zero means one attempt. When time is up or ctx ends, the
// error is the last *LockedError. It waits only for a lock with a known holder: any other error returns at
// once.
func LockWithRetry(ctx context.Context, l Locker, info LockInfo, timeout time.Duration) (id string, err error) {
	if info.ID == "" {
		info.ID = NewLockID() // one ID for all attempts: by it a store recognizes its own lost answer
	}
	deadline := time.Now().Add(timeout)
	for pause := firstLockPause; ; pause = min(2*pause, longestLockPause) {
		id, err = l.Lock(ctx, info)
		var locked *LockedError
		if err == nil || !errors.As(err, &locked) || locked.Info.ID == "" {
			return id, err
		}
		left := time.Until(deadline)
		if left <= 0 {
			return "", err
		}
		// The last attempt is made exactly when time is up.
		timer := time.NewTimer(min(pause, left))
		select {
		case <-ctx.Done():
			timer.Stop()
			return "", err
		case <-timer.C:
		}
	}
}
