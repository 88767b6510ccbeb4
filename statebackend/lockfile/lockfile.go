// Package lockfile keeps a lock as an object beside the state: "<key>.tflock",
// which holds the LockInfo as JSON. Terraform and OpenTofu since 1.10 call that
// use_lockfile. The package refuses to know AWS: it reaches objects through
// [Objects]. Start with [File].
//
// The lock is the existence of the object. It is created on condition that it
// does not exist, and deleted by anybody who knows its ID.
package lockfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// Suffix follows the state's key in the lock object's key.
const Suffix = ".tflock"

// Objects is the store of objects. Errors wrap statebackend.ErrDenied for
// missing permissions, and ErrPrecondition for conditions that do not hold.
type Objects interface {
	// Get returns an object's bytes and entity tag, which is "" if there is no
	// such object.
	Get(ctx context.Context, key string) (data []byte, tag string, err error)
	// Create stores an object, if there is none.
	Create(ctx context.Context, key string, data []byte) error
	// Delete removes an object, if it has that entity tag.
	Delete(ctx context.Context, key, tag string) error
}

// ErrPrecondition means that an object was not created because it exists, or not
// deleted because it has another entity tag. It may be the echo of our own
// earlier attempt whose response was lost.
var ErrPrecondition = errors.New("precondition failed")

// ErrObstructed means that a server refuses to create the lock object as if it existed, and has none. On some
// S3-like servers with versioned buckets a deleted version does that.
var ErrObstructed = errors.New("a deleted version of it is in the way, which a server must not count")

// File is the lock of one state.
type File struct {
	Objects Objects
	Key     string // of the lock object
}

// Lock creates the object. The error is a *statebackend.LockedError if it
// exists. info is complete.
func (f *File) Lock(ctx context.Context, info statebackend.LockInfo) error {
	body := info.Marshal()
	for attempt := 1; ; attempt++ {
		err := f.Objects.Create(ctx, f.Key, body)
		if err == nil || statebackend.Unreachable(err) {
			return err
		}
		// Any error may hide a success, so the stored object decides. IDs are
		// random: equal bytes are ours.
		data, tag, readErr := f.Objects.Get(ctx, f.Key)
		switch {
		case readErr == nil && tag != "" && bytes.Equal(data, body):
			return nil
		case readErr == nil && tag != "":
			held, err := holder(data)
			return &statebackend.LockedError{HeldLock: held, Err: err}
		case !errors.Is(err, ErrPrecondition):
			return err
		case readErr != nil:
			return &statebackend.LockedError{HeldLock: statebackend.HeldLock{Kind: statebackend.ObjectLock}, Err: readErr}
		case attempt == 3:
			return fmt.Errorf("the server refuses to create the lock object %s, although there is none: %w. Remove all versions and delete markers of this object, or do without use_lockfile: %w", f.Key, ErrObstructed, err)
		}
		// It was released between our two requests.
	}
}

// Unlock deletes the object if the lock's ID is that one. The error is
// statebackend.ErrNotLocked if there is none, and a
// *statebackend.LockMismatchError if it has another ID.
func (f *File) Unlock(ctx context.Context, id string) error {
	for attempt := 1; ; attempt++ {
		data, tag, err := f.Objects.Get(ctx, f.Key)
		if err != nil {
			return err
		}
		if tag == "" {
			return statebackend.ErrNotLocked
		}
		held, err := holder(data)
		if err != nil || held.Info.ID != id {
			return &statebackend.LockMismatchError{ID: id, Held: []statebackend.HeldLock{held}}
		}
		// Between reading and deleting, the lock may pass to somebody else:
		// delete only the object just read. After a refusal, the next attempt
		// finds the lock gone, or another holder.
		err = f.Objects.Delete(ctx, f.Key, tag)
		if err == nil {
			return nil
		}
		if !errors.Is(err, ErrPrecondition) || attempt == 3 {
			return fmt.Errorf("release the lock object: %w", err)
		}
	}
}

// Holder returns the lock, or nil if there is none.
func (f *File) Holder(ctx context.Context) (*statebackend.HeldLock, error) {
	data, tag, err := f.Objects.Get(ctx, f.Key)
	if err != nil || tag == "" {
		return nil, err
	}
	held, _ := holder(data) // a holder that cannot be read is an unknown one
	return &held, nil
}

func holder(data []byte) (statebackend.HeldLock, error) {
	held := statebackend.HeldLock{Kind: statebackend.ObjectLock}
	info, err := statebackend.ParseLockInfo(data)
	if err != nil {
		return held, err
	}
	held.Info = info
	return held, nil
}
