package dynamodb

import (
	"context"
	"errors"
	"maps"
	"strings"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// leaseAttribute has the lease, as JSON. Each write of a leased lock item changes at least the lease's nonce.
// So a condition on the lease is a condition on the whole item.
//
// formerAttribute has the last digest that each earlier holder announced, one for each takeover. The write of
// an object can arrive late, from a process that was suspended in between.
const (
	leaseAttribute  = "LockstepLease"
	formerAttribute = "LockstepFormerDigests"
)

// attempts is how often a conditional write is tried. It is tried again only if nobody but the holder has
// changed the item in between.
const attempts = 5

// LockLeased puts the lock item together with its lease. It returns the same errors as [Items.Lock].
func (i *Items) LockLeased(ctx context.Context, info statebackend.LockInfo, lease statebackend.Lease) error {
	wanted := item{keyAttribute: i.Path, infoAttribute: string(info.Marshal()), leaseAttribute: string(lease.Marshal())}
	err := i.lock(ctx, wanted)
	if err == nil {
		i.remember(wanted)
	}
	return err
}

// remember keeps the leased lock item that was just written, so that the next write need not read it first.
// The next write has the lease as its condition, and no two leases are equal.
func (i *Items) remember(written item) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.last = written
}

// current returns the leased lock item. If an item is remembered and the function expected returns true for its
// lease, current returns this item, and forgets it. Otherwise it reads the item.
func (i *Items) current(ctx context.Context, expected func(statebackend.Lease) bool) (item, error) {
	i.mu.Lock()
	last := i.last
	i.last = nil
	i.mu.Unlock()
	if l := leaseOf(last); l != nil && expected(*l) {
		return last, nil
	}
	return i.get(ctx, i.Path)
}

// SetLease replaces the lease with the lease next, and keeps the rest of the item. The condition is that the
// function expected returns true for the stored lease. If it returns false, or there is no lease, the error is
// a *statebackend.LockLostError. SetLease also succeeds if its own attempt stored the new lease and the answer
// was lost.
func (i *Items) SetLease(ctx context.Context, expected func(statebackend.Lease) bool, next statebackend.Lease) error {
	return i.rewrite(ctx, next.Lock, expected, func(there item, now statebackend.Lease) statebackend.Lease {
		if announced := there[announcedAttribute]; !now.SameHolder(next) && announced != "" {
			there[formerAttribute] = strings.TrimSpace(there[formerAttribute] + " " + announced)
		}
		return next
	})
}

// AnnounceLeased does the same as [Items.Announce], for a leased lock. The condition is that the stored lease
// has the same holder as the lease mine.
func (i *Items) AnnounceLeased(ctx context.Context, mine statebackend.Lease, digest string) error {
	return i.rewrite(ctx, mine.Lock, mine.SameHolder, func(there item, now statebackend.Lease) statebackend.Lease {
		there[announcedAttribute] = digest
		return now.As(now.Term)
	})
}

// rewrite changes the lock item of the given lock if the function expected returns true for its lease. The
// function change gets the item to change, and the old lease, and returns the new lease.
func (i *Items) rewrite(ctx context.Context, lock string, expected func(statebackend.Lease) bool, change func(item, statebackend.Lease) statebackend.Lease) error {
	for attempt := 1; ; attempt++ {
		found, err := i.current(ctx, expected)
		if err != nil {
			return err
		}
		now := leaseOf(found)
		if now == nil || now.Lock != lock || !expected(*now) {
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
		// This process may have made the condition false itself, by an earlier write. And after any other
		// error, the write may have succeeded. The nonce shows whether this process wrote the stored item.
		there, readErr := i.get(ctx, i.Path)
		switch {
		case readErr == nil && there[leaseAttribute] == changed[leaseAttribute]:
			return nil
		case !errors.Is(err, errCondition) || attempt == attempts:
			return err
		}
		// Somebody wrote the item between the two requests. The next attempt finds out whether it was the same
		// holder, who renewed the lease.
	}
}

// UnlockLeased deletes the lock item if the stored lease has the same holder as the lease mine. If there is
// no item, the error is statebackend.ErrNotLocked. If the lease has another holder, it is a
// *statebackend.LockLostError.
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

// leaseOf returns the lease of a lock item, or nil if the item has no readable, complete lease for its own
// lock.
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

// sameHolder reports whether two lock items have leases of the same lock and holder. Two items without a lease
// count as the same.
func sameHolder(x, y item) bool {
	a, b := leaseOf(x), leaseOf(y)
	if a == nil || b == nil {
		return a == b
	}
	return a.SameHolder(*b)
}
