package statebackend

import (
	"context"
	"errors"
	"fmt"
)

// Version names one version of a state. It can only be compared. Its form depends on the store: an S3 entity
// tag, or a hash of a file's content. The empty Version means that nothing is stored.
type Version string

// Snapshot is a state as Get read it. Bytes is nil when there is no state. Version may be set even then:
// where an empty object or file is stored in place of a state. The caller of Get owns Bytes.
type Snapshot struct {
	Bytes   []byte
	Version Version
	// Outdated reports that Put would store the same bytes in another form, for instance encrypted with
	// another key. A writer that has no changes then stores the bytes again.
	Outdated bool
}

// Store reads and conditionally writes the state of one workspace.
//
// It is linearizable: a Get that starts after a Put has returned nil sees that Put's bytes or later ones,
// from any process. If several Puts have the same previous version and different bytes, at most one is
// stored. All methods may be called concurrently.
type Store interface {
	// Get reads the state. If there is no state, Get returns a Snapshot without Bytes, and no error. Get
	// needs no lock, and never returns a mixture of two versions.
	Get(ctx context.Context) (Snapshot, error)

	// Put stores data if the current version is prev, and returns the new version. An empty prev means: if
	// nothing is stored.
	//
	// If another version is stored, the error is a *ConflictError and nothing is stored. Exception: if exactly
	// these bytes are stored, Put succeeds, since they are most likely from an earlier attempt of this caller
	// whose answer was lost.
	//
	// If this value took a lock and the lock is no longer there, the error is a *LockLostError and nothing is
	// stored.
	//
	// After any other error it is not known whether data was stored. Call Put again with the same arguments to
	// find out.
	//
	// data is not empty: Put panics otherwise. Put does not keep data after the call.
	Put(ctx context.Context, data []byte, prev Version) (Version, error)
}

// ConflictError is returned if a write was refused because the stored version of the state is not the one
// that the writer read.
type ConflictError struct {
	Path  string  // of the state, for messages
	Want  Version // the version on which the write was conditional
	Found Version // the stored version, if it is known
}

func (e *ConflictError) Error() string {
	switch {
	case e.Want == "":
		return fmt.Sprintf("%s: another state was stored there in the meantime", e.Path)
	case e.Found == "":
		return fmt.Sprintf("%s: the state was deleted in the meantime", e.Path)
	}
	return fmt.Sprintf("%s: the state was changed in the meantime, by a writer that did not hold the lock", e.Path)
}

// LockLostError is returned if a write was refused because the writer's lock is gone: somebody released it by
// its ID, or took it over.
type LockLostError struct {
	Path string
	ID   string // of the writer's lock
	By   *Lease // the lease of the process that took the lock over; nil: the lock was released
}

func (e *LockLostError) Error() string {
	if e.By != nil {
		return fmt.Sprintf("%s: the state lock %s was taken over by run %s after its lease had ended", e.Path, e.ID, e.By.Run)
	}
	return fmt.Sprintf("%s: the state lock %s was released by somebody else while it was in use", e.Path, e.ID)
}

// ErrDenied is wrapped by the error of an operation for which the credentials have no permission.
var ErrDenied = errors.New("access denied")
