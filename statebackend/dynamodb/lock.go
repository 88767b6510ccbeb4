package dynamodb

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// Lock puts the lock item, if there is none. If there is one, the error is a *statebackend.LockedError. All
// fields of info are set.
func (i *Items) Lock(ctx context.Context, info statebackend.LockInfo) error {
	return i.lock(ctx, item{keyAttribute: i.Path, infoAttribute: string(info.Marshal())})
}

func (i *Items) lock(ctx context.Context, wanted item) error {
	for attempt := 1; ; attempt++ {
		err := i.put(ctx, wanted, absent)
		if err == nil || statebackend.Unreachable(err) {
			return err
		}
		// This process may have made the condition false itself: an earlier attempt stored the item, and its
		// response was lost. And after any other error, the write may have succeeded. So the stored item
		// decides: lock IDs are random, so an item with the same text is from this process.
		found, readErr := i.get(ctx, i.Path)
		switch {
		case readErr == nil && found[infoAttribute] == wanted[infoAttribute] && sameHolder(found, wanted):
			return nil
		case !errors.Is(err, errCondition):
			return err
		case readErr != nil:
			return &statebackend.LockedError{HeldLock: statebackend.HeldLock{Kind: statebackend.TableLock}, Err: readErr}
		case found != nil || attempt == 3:
			held, err := holder(found)
			return &statebackend.LockedError{HeldLock: held, Err: err}
		}
		// The lock was released between the two requests.
	}
}

// Unlock deletes the lock item if it has that ID. If there is no item, the error is
// statebackend.ErrNotLocked. If the item has another ID, it is a *statebackend.LockMismatchError.
func (i *Items) Unlock(ctx context.Context, id string) error {
	for attempt := 1; ; attempt++ {
		found, err := i.get(ctx, i.Path)
		if err != nil {
			return err
		}
		if found == nil {
			return statebackend.ErrNotLocked
		}
		held, err := holder(found)
		if err != nil || held.Info.ID != id {
			return &statebackend.LockMismatchError{ID: id, Held: []statebackend.HeldLock{held}}
		}
		// Between reading and deleting, another holder may take the lock: delete only the item just read.
		// After a refusal, the next attempt finds the lock gone, or another holder.
		err = i.remove(ctx, i.Path, equals(infoAttribute, found[infoAttribute]))
		if !errors.Is(err, errCondition) || attempt == 3 {
			return err
		}
	}
}

// Holder returns the lock, or nil if there is none.
func (i *Items) Holder(ctx context.Context) (*statebackend.HeldLock, error) {
	found, err := i.get(ctx, i.Path)
	if err != nil || found == nil {
		return nil, err
	}
	held, _ := holder(found) // an unreadable holder counts as unknown
	return &held, nil
}

// holder reads a lock item. An item with an unreadable Info (written by hand, for instance) is also a lock,
// with an unknown holder.
func holder(found item) (statebackend.HeldLock, error) {
	held := statebackend.HeldLock{Kind: statebackend.TableLock}
	if found == nil {
		return held, errors.New("it comes and goes")
	}
	info, err := statebackend.ParseLockInfo([]byte(found[infoAttribute]))
	if err != nil {
		return held, err
	}
	held.Info, held.Lease = info, leaseOf(found)
	return held, nil
}
