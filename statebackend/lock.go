package statebackend

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"
	"time"
)

// Locker manages the lock of one workspace's state. The lock is advisory and has no end of its own: it lasts
// until its holder or a person releases it by its ID. The locks of stock command line tools and of Lockstep
// exclude each other.
type Locker interface {
	// Lock takes the lock. If somebody holds it, Lock fails at once with a *LockedError: see LockWithRetry.
	// info describes the new holder. Lock fills in its Path, and its ID if it is empty, and returns the ID.
	//
	// After an error this call holds no lock. If a lock was partly taken and could not be released again, the
	// error names it.
	Lock(ctx context.Context, info LockInfo) (id string, err error)

	// Unlock releases the lock with that ID, no matter who took it, even if only some of its kinds remain. If
	// there is no lock, the error is ErrNotLocked. If all existing locks have other IDs, the error is a
	// *LockMismatchError, and nothing is released.
	Unlock(ctx context.Context, id string) error

	// Locks lists the locks that exist now. It takes none.
	Locks(ctx context.Context) ([]HeldLock, error)
}

// LockInfo describes a lock to people and to other tools. Its JSON has the members of Terraform's and
// OpenTofu's JSON, in the same order.
type LockInfo struct {
	ID        string    // a UUID
	Operation string    // "OperationTypeApply" and the like
	Info      string    // free text that stock tools show with the lock
	Who       string    // user@host
	Version   string    // of the tool
	Created   time.Time // in UTC
	Path      string    // of the locked state: "<bucket>/<key>", or its file name
}

// NewLockInfo describes a lock that this process takes now, with a new ID. version is Lockstep's version as
// people know it.
func NewLockInfo(operation, version string) LockInfo {
	return LockInfo{
		ID:        NewLockID(),
		Operation: operation,
		Who:       who(),
		Version:   version,
		Created:   time.Now().UTC(),
	}
}

// Marshal returns the JSON that is stored. OpenTofu's force-unlock parses the
// stored text, renders the result again and compares the two texts. So the text
// must be exactly the output of encoding/json: members in this order, HTML
// characters escaped, the time without trailing zeros.
func (i LockInfo) Marshal() []byte {
	i.Created = i.Created.UTC()
	b, err := json.Marshal(i)
	if err != nil {
		panic(fmt.Sprintf("statebackend: lock info of %s: %v", i.ID, err)) // only a year beyond 9999
	}
	return b
}

// ParseLockInfo reads the JSON that Marshal or a stock tool writes.
func ParseLockInfo(b []byte) (LockInfo, error) {
	var i LockInfo
	if err := json.Unmarshal(b, &i); err != nil {
		return LockInfo{}, fmt.Errorf("not lock information: %w", err)
	}
	return i, nil
}

// String returns the lock in the form in which Terraform shows it.
func (i LockInfo) String() string {
	return fmt.Sprintf("Lock Info:\n  ID:        %s\n  Path:      %s\n  Operation: %s\n  Who:       %s\n  Version:   %s\n  Created:   %s\n  Info:      %s\n",
		i.ID, i.Path, i.Operation, i.Who, i.Version, i.Created, i.Info)
}

// LockKind is the form of a lock, as a text for messages.
type LockKind string

const (
	FileLock    LockKind = "file lock"                                // an advisory lock of the operating system on the state file
	TableLock   LockKind = "DynamoDB lock item"                       // an item in a table
	ObjectLock  LockKind = "lock object"                              // a .tflock object beside the state
	ServerLock  LockKind = "lock that a client has set on the server" // at an HTTP address
	MemoryLock  LockKind = "lock in memory"                           // in backends that keep states in memory
	SessionLock LockKind = "lock of a database session"               // an advisory lock in PostgreSQL
)

// HeldLock is an existing lock.
type HeldLock struct {
	Kind LockKind
	Info LockInfo
	// Lease is the lease of the lock; nil if it has none. If the lease is not [Lease.Complete], Lockstep has
	// only partly taken or partly released the lock.
	Lease *Lease
}

func (h HeldLock) String() string {
	if h.Info.ID == "" {
		return fmt.Sprintf("%s of an unknown holder", h.Kind)
	}
	since := ""
	if !h.Info.Created.IsZero() {
		since = " since " + h.Info.Created.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("%s %s, held by %s%s for %s", h.Kind, h.Info.ID, h.Info.Who, since, h.Info.Operation)
}

// LockedError is returned if somebody holds the lock that was asked for. Info describes the holder. If its ID
// is empty, the holder is unknown, and Err may give the reason.
type LockedError struct {
	HeldLock
	Err error
}

func (e *LockedError) Error() string {
	s := "the state is locked: " + e.HeldLock.String()
	if e.Info.Info != "" {
		s += " (" + e.Info.Info + ")"
	}
	if e.Lease != nil {
		s += "; unless its lease is renewed, it may be taken over from " + e.Lease.End().UTC().Format(time.RFC3339) + " on"
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *LockedError) Unwrap() error { return e.Err }

// LockMismatchError is returned if nothing was released, because all existing locks have other IDs than the
// given one.
type LockMismatchError struct {
	ID   string // the given ID
	Held []HeldLock
}

func (e *LockMismatchError) Error() string {
	held := make([]string, len(e.Held))
	for i, h := range e.Held {
		held[i] = h.String()
	}
	return fmt.Sprintf("lock ID %q is not the existing lock's: %s", e.ID, strings.Join(held, "; "))
}

// ErrNotLocked is returned when there is no lock to release.
var ErrNotLocked = errors.New("the state is not locked")

// who returns user@host as Terraform writes it. A part that cannot be determined is empty.
func who() string {
	name, host := "", ""
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if h, err := os.Hostname(); err == nil {
		host = h
	}
	return name + "@" + host
}

// NewLockID returns a random UUID (RFC 9562, version 4).
func NewLockID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
