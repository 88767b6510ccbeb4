package statebackend

import (
	"context"
	"errors"
	"fmt"
)

// Version names one version of a state, for comparison only. Its form is the
// store's own (an S3 entity tag, a hash of a file's content). The empty Version
// means that nothing is stored at all.
type Version string

// Snapshot is a state as it was read. Bytes is nil when there is no state;
// Version may even so be set, where something empty is stored in its place.
// The reader owns Bytes.
type Snapshot struct {
	Bytes   []byte
	Version Version
	// Outdated reports that Put would store the same bytes in another form, for instance encrypted
	// with another key: a writer that finds nothing to change stores them again.
	Outdated bool
}

// Store reads and conditionally writes the state of one workspace.
//
// It is linearizable: a Get that starts after a Put has returned nil sees that
// Put's bytes or later ones, from any process. Of any number of Puts with the
// same previous version and different bytes, at most one is stored. All methods
// may be called concurrently.
type Store interface {
	// Get reads the state. Absence is a Snapshot, not an error. It needs no
	// lock, and never returns a mixture of two versions.
	Get(ctx context.Context) (Snapshot, error)

	// Put stores data if the current version is prev (the empty Version: if
	// nothing is stored), and returns the version it has become.
	//
	// If another version is there, the error is a *ConflictError and nothing
	// was stored, unless exactly these bytes are there: that is success, since
	// they are most likely our own from an attempt whose answer was lost.
	//
	// If this value took a lock and the lock is no longer there, the error is a
	// *LockLostError and nothing was stored.
	//
	// After any other error it is not known whether data was stored; calling
	// Put again with the same arguments is right, and settles it.
	//
	// data is not empty: Put panics otherwise. It is not kept after the call.
	Put(ctx context.Context, data []byte, prev Version) (Version, error)
}

// ConflictError is returned when a write was refused because another version of
// the state is stored than the one that the writer had read.
type ConflictError struct {
	Path  string  // of the state, as messages name it
	Want  Version // the version on which the write was conditional
	Found Version // the version that is stored, if the store could tell
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

// LockLostError is returned when a write was refused because the writer's lock
// no longer exists: somebody released it by its ID, or has taken it over.
type LockLostError struct {
	Path string
	ID   string // of the writer's lock
	By   *Lease // of whoever has taken it over; nil: the lock was released
}

func (e *LockLostError) Error() string {
	if e.By != nil {
		return fmt.Sprintf("%s: the state lock %s was taken over by run %s after its lease had ended", e.Path, e.ID, e.By.Run)
	}
	return fmt.Sprintf("%s: the state lock %s was released by somebody else while it was in use", e.Path, e.ID)
}

// ErrDenied is wrapped by errors of operations for which the credentials have no
// permission.
var ErrDenied = errors.New("access denied")
