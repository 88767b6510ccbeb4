package s3

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/lockfile"
)

// leaseObject is the lease of a state that has no table of locks:
//
//	.lockstep/journal/<escaped key of the state>/lease
//
// It stays when the lock is released, marked as released. It belongs to the lock whose ID it has: an
// object with another ID is left from an earlier lock. An entity tag is no version for equal bytes,
// but no two leases are equal.
type leaseObject struct {
	objects *objects
	key     string
	path    string // of the state
	seen    *seenLease
}

// seenLease is the lease object as it was last read or written by a value. A write on condition of its entity tag
// needs no reading before: it is refused if the object is another one by now.
type seenLease struct {
	mu    sync.Mutex
	lease *statebackend.Lease // nil: of an earlier lock, or there is none
	lock  string              // whose lease that is
	tag   string
	known bool
}

func (s *seenLease) set(lock string, lease *statebackend.Lease, tag string, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lock, s.lease, s.tag, s.known = lock, lease, tag, known
}

// take returns what was seen of the lease of a lock, once.
func (s *seenLease) take(lock string) (lease *statebackend.Lease, tag string, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known = s.known && s.lock == lock
	s.known = false
	return s.lease, s.tag, known
}

// get returns the lease of the lock with that ID, nil if there is none; and the entity tag of
// whatever is there.
func (l leaseObject) get(ctx context.Context, lock string) (found *statebackend.Lease, tag string, err error) {
	defer func() { l.seen.set(lock, found, tag, err == nil) }()
	data, tag, err := l.objects.Get(ctx, l.key)
	if err != nil || tag == "" {
		return nil, "", err
	}
	lease, err := statebackend.ParseLease(data)
	if err != nil {
		return nil, tag, fmt.Errorf("s3://%s/%s: %w: remove it if no run is in progress", l.objects.bucket, l.key, err)
	}
	if lease.Lock != lock {
		return nil, tag, nil
	}
	return &lease, tag, nil
}

// set replaces the lease of next's lock on condition that the present one is one that was allows, who
// is asked about nil if the lock has none. If it is another one, the error is a
// *statebackend.LockLostError.
func (l leaseObject) set(ctx context.Context, was func(*statebackend.Lease) bool, next statebackend.Lease) error {
	for attempt := 1; ; attempt++ {
		now, tag, known := l.seen.take(next.Lock)
		if !known || !was(now) {
			var err error
			if now, tag, err = l.get(ctx, next.Lock); err != nil {
				return err
			}
		}
		if !was(now) {
			return &statebackend.LockLostError{Path: l.path, ID: next.Lock, By: now}
		}
		tag, err := l.objects.put(ctx, l.key, next.Marshal(), tag)
		if err == nil {
			l.seen.set(next.Lock, &next, tag, tag != "")
			return nil
		}
		if statebackend.Unreachable(err) {
			return err
		}
		// A refusal may be the echo of our own write, and any other error may hide one.
		there, _, readErr := l.get(ctx, next.Lock)
		switch {
		case readErr == nil && there != nil && there.Nonce == next.Nonce:
			return nil
		case !errors.Is(err, lockfile.ErrPrecondition) || attempt == leaseAttempts:
			return err
		}
	}
}

// leaseAttempts of a conditional write, between which somebody else has written.
const leaseAttempts = 5
