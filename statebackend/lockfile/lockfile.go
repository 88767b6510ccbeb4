// Package lockfile keeps a lock as an object beside the state: "<key>.tflock",
// which holds the LockInfo as JSON. Terraform and OpenTofu since 1.10 call that
// use_lockfile. The package refuses to know AWS: it reaches objects through
// [Objects]. Start with [File].
//
// The lock is the existence of the object. It is created on condition that it
// does not exist, and deleted by anybody who knows its ID.
//
// A lock of ours may have its lease in the same object, behind the words of Info,
// so that the two are written, renewed and released by one request:
// see statebackend.LockInfo.WithLease.
package lockfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

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
	// Put replaces the object that has that entity tag ("": creates one, if there is none), and
	// returns the new tag.
	Put(ctx context.Context, key string, data []byte, tag string) (string, error)
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

// File is the lock of one state. The fields are set before the first use; then it is safe for concurrent use.
type File struct {
	Objects Objects
	Key     string // of the lock object
	Path    string // of the state, as messages name it
	// Leases reports that leases are in the lock objects. Otherwise, one that is there is of somebody who looks for
	// locks in other places, and not to be judged.
	Leases bool
	// Strict reports that the condition of Delete can be relied on. Some servers ignore it.
	Strict bool

	mu   sync.Mutex
	last *object // as it was last read or written; nil: not known
}

// object is what a lock object holds. A write on condition of its entity tag needs no reading before: it is refused
// if the object is another one by now. An entity tag is no version for equal bytes, but no two leases are equal.
type object struct {
	info  statebackend.LockInfo // without the lease
	lease *statebackend.Lease   // nil: none
	tag   string                // "": there is no object
	err   error                 // the object cannot be read as a lock
}

func (o object) body() []byte {
	if o.lease != nil {
		return o.info.WithLease(*o.lease).Marshal()
	}
	return o.info.Marshal()
}

// held is the object as a lock. One that cannot be read (written by hand, for instance) is a lock, too, of an
// unknown holder.
func (o object) held() statebackend.HeldLock {
	return statebackend.HeldLock{Kind: statebackend.ObjectLock, Info: o.info, Lease: o.lease}
}

// read reads the object.
func (f *File) read(ctx context.Context) (object, error) {
	f.take()
	data, tag, err := f.Objects.Get(ctx, f.Key)
	if err != nil || tag == "" {
		return object{}, err
	}
	o := object{tag: tag}
	if o.info, o.err = statebackend.ParseLockInfo(data); o.err == nil && f.Leases {
		o.info, o.lease = o.info.SplitLease()
	}
	f.remember(o)
	return o, nil
}

func (f *File) remember(o object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last = &o; o.tag == "" {
		f.last = nil
	}
}

// take returns the object as it was last seen, once.
func (f *File) take() (last object, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last == nil {
		return object{}, false
	}
	last, f.last = *f.last, nil
	return last, true
}

// Lock creates the object. The error is a *statebackend.LockedError if it
// exists. info is complete.
func (f *File) Lock(ctx context.Context, info statebackend.LockInfo) error {
	return f.lock(ctx, object{info: info})
}

func (f *File) lock(ctx context.Context, wanted object) error {
	body := wanted.body()
	for attempt := 1; ; attempt++ {
		tag, err := f.Objects.Put(ctx, f.Key, body, "")
		if err == nil {
			wanted.tag = tag
			f.remember(wanted)
			return nil
		}
		if statebackend.Unreachable(err) {
			return err
		}
		// Any error may hide a success, so the stored object decides. IDs are
		// random: equal bytes are ours.
		there, readErr := f.read(ctx)
		switch {
		case readErr == nil && there.tag != "" && bytes.Equal(there.body(), body):
			return nil
		case readErr == nil && there.tag != "":
			return &statebackend.LockedError{HeldLock: there.held(), Err: there.err}
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
		there, known := f.take()
		if !known || !f.Strict || there.info.ID != id {
			var err error
			if there, err = f.read(ctx); err != nil {
				return err
			}
		}
		if there.tag == "" {
			return statebackend.ErrNotLocked
		}
		if there.err != nil || there.info.ID != id {
			return &statebackend.LockMismatchError{ID: id, Held: []statebackend.HeldLock{there.held()}}
		}
		// Between reading and deleting, the lock may pass to somebody else:
		// delete only the object just read. After a refusal, the next attempt
		// finds the lock gone, or another holder.
		err := f.Objects.Delete(ctx, f.Key, there.tag)
		f.take()
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
	there, err := f.read(ctx)
	if err != nil || there.tag == "" {
		return nil, err
	}
	held := there.held()
	return &held, nil
}
