package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/dynamodb"
	"github.com/lockstep-iac/lockstep/statebackend/lockfile"
)

// workspace is the state of one workspace. It implements statebackend.Workspace. The bucket and the table have
// the truth: the fields only save requests, and remember the lock that this value took.
type workspace struct {
	objects     *objects
	key         string          // of the state's object
	items       *dynamodb.Items // nil: the block names no table
	file        *lockfile.File
	useLockfile bool // the block asks for the lock object
	options     Options
	patience    patience

	holder string                             // the Holder of this value's leases: see statebackend.Lease
	lease  atomic.Pointer[statebackend.Lease] // nil: this value has no lease
	object atomic.Bool                        // this value has the lock object

	memory journalMemory

	leasing sync.Mutex // one write of the lease at a time, since two would refuse each other; taken after mu

	mu        sync.Mutex
	held      *held   // nil: this value holds no lock
	digest    *string // the digest in the digest item when it was last read; nil if not known
	unsettled bool    // a digest was announced, and not written yet
}

// DigestError is returned if the state's object and the digest item still do not match after a wait. Either a
// writer died between writing the two, or somebody changed one of them by hand.
type DigestError struct {
	Path       string // "<bucket>/<key>"
	Calculated string // the digest of the object; "" if there is no object
	Stored     string // the digest in the digest item
}

func (e *DigestError) Error() string {
	return fmt.Sprintf("the state at s3://%s does not match its digest. "+
		"Calculated digest: %q, stored digest: %q. "+
		"If no run is in progress and the object is the state that you want, set Digest to %q in the DynamoDB item %q",
		e.Path, e.Calculated, e.Stored, e.Calculated, e.Path+"-md5")
}

// Get reads the object, and compares it with the digest item. A writer writes object and digest one after the
// other, so a reader may read between the two writes. Get then waits for the writer, unless the writer has
// announced the digest of exactly this object.
func (w *workspace) Get(ctx context.Context) (statebackend.Snapshot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for start := time.Now(); ; {
		data, tag, err := w.objects.Get(ctx, w.key)
		if err != nil {
			return statebackend.Snapshot{}, err
		}
		if len(data) == 0 {
			data = nil // an empty object is no state
		}
		err = w.compare(ctx, data)
		if err == nil {
			return statebackend.Snapshot{Bytes: data, Version: statebackend.Version(tag)}, nil
		}
		if time.Since(start) >= w.patience.limit {
			return statebackend.Snapshot{}, err
		}
		if !wait(ctx, w.patience.pause) {
			return statebackend.Snapshot{}, ctx.Err()
		}
	}
}

// compare returns a *DigestError if the digest item has the digest of another state.
func (w *workspace) compare(ctx context.Context, data []byte) error {
	if w.items == nil {
		return nil
	}
	stored, err := w.items.Digest(ctx)
	if err != nil {
		// Stock tools continue without the comparison, and so does Lockstep: a role that may only read the
		// bucket can still plan.
		w.options.Note(fmt.Sprintf("the state's digest could not be read, so the state was not compared with it: %v", err))
		return nil
	}
	w.digest = &stored
	calculated := digestOf(data)
	if !dynamodb.IsDigest(stored) || stored == calculated {
		return nil
	}
	announced, err := w.items.Announced(ctx)
	if err == nil && slices.Contains(announced, calculated) {
		// The present holder of the lock, or an earlier one, wrote this object. It has not written the digest
		// yet, or died before it could. In both cases the object is the state.
		return nil
	}
	return &DigestError{Path: w.path(), Calculated: calculated, Stored: stored}
}

// Put writes the announcement, the object and the digest, in this order.
//
// Only the write of the object decides: it has the condition, and the object is the state. The announcement
// and the digest exist for tools that compare digests.
func (w *workspace) Put(ctx context.Context, data []byte, prev statebackend.Version) (statebackend.Version, error) {
	if len(data) == 0 {
		panic("s3: Put of an empty state")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	digest := digestOf(data)

	// The announcement stores the next digest in the lock item, on condition that this process still holds the
	// lock: a writer that lost it stops here. A crash after this leaves an announcement without its object.
	// Nobody reads the announcement as long as object and digest match.
	if err := w.announce(ctx, digest); err != nil {
		return "", err
	}

	// A crash after this leaves the new state and the digest of the old state. Lockstep's readers see the
	// announcement, and Unlock with the dead run's ID repairs the digest. A stock tool would refuse the state
	// until then; but the dead run's lock already keeps it from starting.
	tag, err := w.putObject(ctx, data, prev)
	if err != nil {
		return "", err
	}

	// A crash after this leaves only the lock.
	if err := w.recordDigest(ctx, digest, tag); err != nil {
		return "", fmt.Errorf("the state was written, its digest %s was not: %w", digest, err)
	}
	w.unsettled = false
	return statebackend.Version(tag), nil
}

// putObject writes the object. After an error it reads the object again, to distinguish a success with a lost
// response from a conflict and from a failure.
func (w *workspace) putObject(ctx context.Context, data []byte, prev statebackend.Version) (string, error) {
	tag, err := w.objects.Put(ctx, w.key, data, string(prev))
	if err == nil {
		return tag, nil
	}
	// The refusal may be caused by an attempt of this process: the SDK repeats a request if the response is
	// lost. And after any other error, the write may have succeeded.
	there, tag, readErr := w.objects.Get(ctx, w.key)
	switch {
	case readErr == nil && bytes.Equal(there, data):
		return tag, nil
	case !errors.Is(err, lockfile.ErrPrecondition):
		return "", err
	case readErr != nil:
		return "", fmt.Errorf("%w; and the existing object cannot be read: %w", err, readErr)
	case tag == "" && prev == "":
		// There is no object, and yet the server refuses to create one. Some S3-like servers do this if a
		// versioned bucket has a deleted version of the object. They refuse the write with every condition, so
		// write without one.
		if tag, err := w.objects.write(ctx, w.key, data, ""); err == nil {
			w.options.Note(fmt.Sprintf("s3://%s was written without the condition that there is no such object: the server takes a deleted version for the object", w.path()))
			return tag, nil
		}
		fallthrough
	case tag == string(prev):
		return "", fmt.Errorf("the server refuses to replace a state that has not changed since it was read: %w", err)
	}
	return "", &statebackend.ConflictError{Path: w.path(), Want: prev, Found: statebackend.Version(tag)}
}

// recordDigest writes the digest item after the object was written with that entity tag. This write has a
// condition, like the write of the object. So a process that was suspended before this write cannot write the
// digest of a state that was replaced meanwhile.
func (w *workspace) recordDigest(ctx context.Context, digest, tag string) error {
	if w.items == nil {
		return nil
	}
	var refused error
	for range maxDigestWrites {
		if w.digest == nil {
			stored, err := w.items.Digest(ctx)
			if err != nil {
				return err
			}
			w.digest = &stored
		}
		err := w.items.SetDigest(ctx, digest, *w.digest)
		if err == nil {
			w.digest = &digest
			return nil
		}
		w.digest = nil
		if !errors.Is(err, dynamodb.ErrDigestMoved) {
			return err
		}
		// Somebody has written a digest since this process read the item. Either it is a late digest of an
		// earlier state, which the new digest must replace, or the digest of a later state.
		_, now, err := w.objects.Get(ctx, w.key)
		if err != nil {
			return err
		}
		if now != tag {
			return &statebackend.ConflictError{Path: w.path(), Want: statebackend.Version(tag), Found: statebackend.Version(now)}
		}
		refused = dynamodb.ErrDigestMoved
	}
	return refused
}

// maxDigestWrites is how often recordDigest tries to write the digest while somebody else is writing it. A
// digest that arrives late is rare; so many in a row mean that the table refuses every condition.
const maxDigestWrites = 5
