package statebackendtest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// Fake is a backend in memory. It fulfils the contract, and passes [Run]. The zero value is empty and ready
// to use. It is safe for concurrent use.
type Fake struct {
	Faults *Faults // of "put NAME", "lock NAME", "unlock NAME", "lease NAME", "delete NAME"

	mu     sync.Mutex
	states map[string]*fakeState
}

// fakeState is the stored part of one workspace.
type fakeState struct {
	data    []byte // nil: nothing
	version int    // counts all writes and deletions
	lock    *statebackend.LockInfo
	lease   *statebackend.Lease // the lease of the lock; nil: none
}

func (s *fakeState) token() statebackend.Version {
	if s.data == nil {
		return ""
	}
	return statebackend.Version(strconv.Itoa(s.version))
}

// of returns the stored part of a workspace. The caller holds f.mu.
func (f *Fake) of(name string) *fakeState {
	if f.states == nil {
		f.states = make(map[string]*fakeState)
	}
	s := f.states[name]
	if s == nil {
		s = new(fakeState)
		f.states[name] = s
	}
	return s
}

// write calls do, which makes one write. The fault that a test injects into this write may prevent the call.
// The caller holds f.mu.
func (f *Fake) write(what string, do func()) error {
	switch f.Faults.Next(what) {
	case Failed, Conflict:
		return ErrFault
	case Persisted:
		do()
		return ErrFault
	}
	do()
	return nil
}

// Workspaces implements statebackend.Backend: it lists the workspaces that have a state.
func (f *Fake) Workspaces(ctx context.Context) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var names []string
	for name, s := range f.states {
		if s.data != nil && name != statebackend.DefaultWorkspace {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return append([]string{statebackend.DefaultWorkspace}, names...), nil
}

// DeleteWorkspace implements statebackend.Backend: it removes the state if its version is still prev.
func (f *Fake) DeleteWorkspace(ctx context.Context, name string, prev statebackend.Version) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if name == statebackend.DefaultWorkspace {
		return errors.New("the default workspace cannot be deleted")
	}
	if err := statebackend.CheckWorkspaceName(name); err != nil {
		return err
	}
	s := f.of(name)
	if s.data == nil {
		return nil
	}
	if s.token() != prev {
		return &statebackend.ConflictError{Path: name, Want: prev, Found: s.token()}
	}
	return f.write("delete "+name, func() { s.data = nil; s.version++ })
}

// Open implements statebackend.Backend: it returns the state of a workspace.
func (f *Fake) Open(name string) (statebackend.Workspace, error) {
	if err := statebackend.CheckWorkspaceName(name); err != nil {
		return nil, err
	}
	return &fakeWorkspace{fake: f, name: name, holder: statebackend.NewLockID()}, nil
}

// fakeWorkspace is an opened workspace. fake.mu also guards the fields of fakeWorkspace.
type fakeWorkspace struct {
	fake   *Fake
	name   string
	holder string              // the Holder of this value's leases
	held   string              // the ID of the lock that this value took
	lease  *statebackend.Lease // the lease of that lock
}

func (w *fakeWorkspace) Place() string { return "memory: " + w.name }

func (w *fakeWorkspace) Get(ctx context.Context) (statebackend.Snapshot, error) {
	w.fake.mu.Lock()
	defer w.fake.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return statebackend.Snapshot{}, err
	}
	s := w.fake.of(w.name)
	return statebackend.Snapshot{Bytes: bytes.Clone(s.data), Version: s.token()}, nil
}

func (w *fakeWorkspace) Put(ctx context.Context, data []byte, prev statebackend.Version) (statebackend.Version, error) {
	if len(data) == 0 {
		panic("statebackendtest: Put of an empty state")
	}
	w.fake.mu.Lock()
	defer w.fake.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return "", err
	}
	s := w.fake.of(w.name)
	if err := w.deposed(s); err != nil {
		return "", err
	}
	if s.data != nil && bytes.Equal(s.data, data) {
		return s.token(), nil
	}
	if s.token() != prev {
		return "", &statebackend.ConflictError{Path: w.name, Want: prev, Found: s.token()}
	}
	err := w.fake.write("put "+w.name, func() { s.data = bytes.Clone(data); s.version++ })
	if err != nil {
		return "", err
	}
	return s.token(), nil
}

func (w *fakeWorkspace) Lock(ctx context.Context, info statebackend.LockInfo) (string, error) {
	w.fake.mu.Lock()
	defer w.fake.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if info.ID == "" {
		info.ID = statebackend.NewLockID()
	}
	info.Path = w.name
	s := w.fake.of(w.name)
	if s.lock != nil && !bytes.Equal(s.lock.Marshal(), info.Marshal()) {
		return "", &statebackend.LockedError{HeldLock: w.heldLock(s)}
	}
	if err := w.fake.write("lock "+w.name, func() { s.lock, s.lease = &info, nil }); err != nil {
		return "", err
	}
	w.held, w.lease = info.ID, nil
	return info.ID, nil
}

func (w *fakeWorkspace) Unlock(ctx context.Context, id string) error {
	w.fake.mu.Lock()
	defer w.fake.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	s := w.fake.of(w.name)
	switch {
	case s.lock == nil:
		w.held = ""
		return statebackend.ErrNotLocked
	case s.lock.ID != id:
		return &statebackend.LockMismatchError{ID: id, Held: []statebackend.HeldLock{w.heldLock(s)}}
	}
	if w.held == id {
		if err := w.deposed(s); err != nil {
			w.held, w.lease = "", nil
			return err
		}
	}
	if err := w.fake.write("unlock "+w.name, func() { s.lock, s.lease = nil, nil }); err != nil {
		return err
	}
	w.held, w.lease = "", nil
	return nil
}

func (w *fakeWorkspace) Locks(ctx context.Context) ([]statebackend.HeldLock, error) {
	w.fake.mu.Lock()
	defer w.fake.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s := w.fake.of(w.name); s.lock != nil {
		return []statebackend.HeldLock{w.heldLock(s)}, nil
	}
	return nil, nil
}

func (w *fakeWorkspace) heldLock(s *fakeState) statebackend.HeldLock {
	return statebackend.HeldLock{Kind: statebackend.MemoryLock, Info: *s.lock, Lease: s.lease}
}
