// Package lockfile keeps a lock as an object beside the state: "<key>.tflock", which has the LockInfo as
// JSON. Terraform and OpenTofu since 1.10 call that use_lockfile. The package does not depend on AWS: it
// accesses objects through [Objects]. Start with [File].
//
// The existence of the object is the lock. The object is created on condition that it does not exist. Anybody
// who knows the lock's ID may delete it.
//
// A lock of Lockstep may have its lease in the same object, after the text of Info. One request then writes,
// renews or releases both: see statebackend.LockInfo.WithLease.
package lockfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// Suffix is the ending that turns the state's key into the lock object's key.
const Suffix = ".tflock"

// Objects is the object store. Errors wrap statebackend.ErrDenied for missing permissions, and
// ErrPrecondition for conditions that are false.
type Objects interface {
	// Get returns an object's bytes and entity tag. The tag is "" if there is no such object.
	Get(ctx context.Context, key string) (data []byte, tag string, err error)
	// Put replaces the object on condition that it has the given entity tag. With the tag "", Put creates the
	// object on condition that there is none. Put returns the new tag.
	Put(ctx context.Context, key string, data []byte, tag string) (string, error)
	// Delete removes an object on condition that it has that entity tag.
	Delete(ctx context.Context, key, tag string) error
}

// ErrPrecondition means that the condition of a Put or Delete was false: the object exists, or it has another
// entity tag. The cause may be an earlier attempt of this process whose response was lost.
var ErrPrecondition = errors.New("precondition failed")

// ErrObstructed means that a server refuses to create the lock object as if it existed, although it does not
// exist. On some S3-like servers with versioned buckets, a deleted version of the object causes this.
var ErrObstructed = errors.New("a deleted version of it is in the way, which a server must not count")

// File manages the lock object of one state. Set the fields before the first use; then File is safe for
// concurrent use.
type File struct {
	Objects Objects
	Key     string // of the lock object
	Path    string // of the state, for messages
	// Leases reports that this lock object is the place of the lease. If false, a lease in the object is
	// ignored: it belongs to a writer with another set of lock kinds.
	Leases bool
	// Strict reports that the server obeys the condition of Delete. Some servers ignore it.
	Strict bool

	mu   sync.Mutex
	last *object // the object as last read or written; nil: not known
}

// object is the content of a lock object. A conditional write needs no read before it: the server refuses the
// write if the entity tag has changed. Two objects with equal bytes may have equal tags, but no two leases
// are equal.
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

// held returns the object as a lock. An unreadable object (written by hand, for instance) is also a lock,
// with an unknown holder.
func (o object) held() statebackend.HeldLock {
	return statebackend.HeldLock{Kind: statebackend.ObjectLock, Info: o.info, Lease: o.lease}
}

// read reads the object; if there is none, the result has the tag "".
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

// take returns the lock object as this process last read or wrote it, and forgets it. known is false if nothing
// is remembered.
func (f *File) take() (last object, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last == nil {
		return object{}, false
	}
	last, f.last = *f.last, nil
	return last, true
}

// Lock creates the object. If it exists, the error is a *statebackend.LockedError. All fields of info are
// set.
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
		// After any error the write may have succeeded, so the stored object decides. Lock IDs are random, so
		// an object with the same bytes is from this process.
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
		// The lock was released between the two requests.
	}
}

// Unlock deletes the object if its lock has that ID. If there is no object, the error is
// statebackend.ErrNotLocked. If the lock has another ID, it is a *statebackend.LockMismatchError.
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
		// Between reading and deleting, another holder may take the lock: delete only the object just read.
		// After a refusal, the next attempt finds the lock gone, or another holder.
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
