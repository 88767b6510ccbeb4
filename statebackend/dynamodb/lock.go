package dynamodb

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// Lock puts the lock item, if there is none. The error is a
// *statebackend.LockedError if there is one. info is complete.
func (i *Items) Lock(ctx context.Context, info statebackend.LockInfo) error {
	return i.lock(ctx, item{keyAttribute: i.Path, infoAttribute: string(info.Marshal())})
}

func (i *Items) lock(ctx context.Context, wanted item) error {
	for attempt := 1; ; attempt++ {
		err := i.put(ctx, wanted, absent)
		if err == nil || statebackend.Unreachable(err) {
			return err
		}
		// The condition may have failed on our own item, put by an attempt whose
		// response was lost, and any other error may hide a success. So the stored
		// item decides. IDs are random: an equal text is ours.
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
		// It was released between our two requests.
	}
}

// Unlock deletes the lock item if its ID is that one. The error is
// statebackend.ErrNotLocked if there is none, and a
// *statebackend.LockMismatchError if it has another ID.
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
		// Between reading and deleting, the lock may pass to somebody else:
		// delete only the item just read. After a refusal, the next attempt finds
		// the lock gone, or another holder.
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
	held, _ := holder(found) // a holder that cannot be read is an unknown one
	return &held, nil
}

// holder reads a lock item. One with an unreadable Info (written by hand, for
// instance) is a lock, too, of an unknown holder.
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
