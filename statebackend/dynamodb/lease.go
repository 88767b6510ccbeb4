package dynamodb

import (
	"context"
	"errors"
	"maps"
	"strings"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// leaseAttribute holds the lease, as JSON. Each write of a leased lock item changes it, if only its
// nonce, so that a condition on it is a condition on the whole item.
//
// formerAttribute holds what the holders before have announced last, as often as the lock was taken
// over. The write of an object can arrive late, from a process that was suspended in between.
const (
	leaseAttribute  = "LockstepLease"
	formerAttribute = "LockstepFormerDigests"
)

// attempts of a conditional write, between which only the same holder has written.
const attempts = 5

// LockLeased puts the lock item together with its lease. The errors are those of Lock.
func (i *Items) LockLeased(ctx context.Context, info statebackend.LockInfo, lease statebackend.Lease) error {
	wanted := item{keyAttribute: i.Path, infoAttribute: string(info.Marshal()), leaseAttribute: string(lease.Marshal())}
	err := i.lock(ctx, wanted)
	if err == nil {
		i.remember(wanted)
	}
	return err
}

// remember keeps a leased lock item that was written. The next write needs no reading before: its condition is
// the lease, and no two leases are equal.
func (i *Items) remember(written item) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.last = written
}

// current returns the leased lock item: as it was last written, once, if was allows its lease, and else as it is read.
func (i *Items) current(ctx context.Context, was func(statebackend.Lease) bool) (item, error) {
	i.mu.Lock()
	last := i.last
	i.last = nil
	i.mu.Unlock()
	if l := leaseOf(last); l != nil && was(*l) {
		return last, nil
	}
	return i.get(ctx, i.Path)
}

// SetLease replaces the lease by next, and keeps the rest of the item, on condition that the lease
// there is one that was allows. If it is another one, or there is none, the error is a
// *statebackend.LockLostError. It is success if the lease there is next's holder's already.
func (i *Items) SetLease(ctx context.Context, was func(statebackend.Lease) bool, next statebackend.Lease) error {
	return i.rewrite(ctx, next.Lock, was, func(there item, now statebackend.Lease) statebackend.Lease {
		if announced := there[announcedAttribute]; !now.SameHolder(next) && announced != "" {
			there[formerAttribute] = strings.TrimSpace(there[formerAttribute] + " " + announced)
		}
		return next
	})
}

// AnnounceLeased is Announce for a leased lock: the condition is that its lease is still mine's
// holder's.
func (i *Items) AnnounceLeased(ctx context.Context, mine statebackend.Lease, digest string) error {
	return i.rewrite(ctx, mine.Lock, mine.SameHolder, func(there item, now statebackend.Lease) statebackend.Lease {
		there[announcedAttribute] = digest
		return now.As(now.Term)
	})
}

// rewrite changes the leased lock item if its lease is one that was allows.
func (i *Items) rewrite(ctx context.Context, lock string, was func(statebackend.Lease) bool, change func(item, statebackend.Lease) statebackend.Lease) error {
	for attempt := 1; ; attempt++ {
		found, err := i.current(ctx, was)
		if err != nil {
			return err
		}
		now := leaseOf(found)
		if now == nil || now.Lock != lock || !was(*now) {
			return i.lost(lock, now)
		}
		changed := maps.Clone(found)
		next := change(changed, *now)
		changed[leaseAttribute] = string(next.Marshal())
		err = i.put(ctx, changed, equals(leaseAttribute, found[leaseAttribute]))
		if err == nil {
			i.remember(changed)
		}
		if err == nil || statebackend.Unreachable(err) {
			return err
		}
		// A refusal may be the echo of our own write, and any other error may hide one. The nonce
		// tells.
		there, readErr := i.get(ctx, i.Path)
		switch {
		case readErr == nil && there[leaseAttribute] == changed[leaseAttribute]:
			return nil
		case !errors.Is(err, errCondition) || attempt == attempts:
			return err
		}
		// Somebody wrote between our two requests: the next attempt finds out whether it was a
		// renewal of the same holder.
	}
}

// UnlockLeased deletes the lock item if its lease is still mine's holder's. If there is none the
// error is statebackend.ErrNotLocked, and if it is another's a *statebackend.LockLostError.
func (i *Items) UnlockLeased(ctx context.Context, mine statebackend.Lease) error {
	for attempt := 1; ; attempt++ {
		found, err := i.current(ctx, mine.SameHolder)
		if err != nil {
			return err
		}
		if found == nil {
			return statebackend.ErrNotLocked
		}
		if now := leaseOf(found); now == nil || !now.SameHolder(mine) {
			return i.lost(mine.Lock, now)
		}
		err = i.remove(ctx, i.Path, equals(leaseAttribute, found[leaseAttribute]))
		if !errors.Is(err, errCondition) || attempt == attempts {
			return err
		}
	}
}

func (i *Items) lost(lock string, now *statebackend.Lease) error {
	e := &statebackend.LockLostError{Path: i.Path, ID: lock}
	if now != nil && now.Lock == lock {
		e.By = now
	}
	return e
}

// leaseOf returns the lease of a lock item; nil if there is none, or none that can be read.
func leaseOf(found item) *statebackend.Lease {
	lease, err := statebackend.ParseLease([]byte(found[leaseAttribute]))
	if err != nil || !lease.Complete() {
		return nil
	}
	info, err := statebackend.ParseLockInfo([]byte(found[infoAttribute]))
	if err != nil || info.ID != lease.Lock {
		return nil
	}
	return &lease
}

// sameHolder reports whether two lock items are of the same holding. Without leases there is one only.
func sameHolder(x, y item) bool {
	a, b := leaseOf(x), leaseOf(y)
	if a == nil || b == nil {
		return a == b
	}
	return a.SameHolder(*b)
}
