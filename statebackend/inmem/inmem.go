// Package inmem is the backend "inmem". It keeps states and locks in the memory of this process, until the
// process ends. Terraform has it for its own tests. A configuration that names it can be planned and applied
// in one process.
//
// All backends of a process share their states, as in Terraform, where only the workspace names a state.
// Start at [Open].
//
// Source: internal/backend/remote-state/inmem of Terraform 1.11.
package inmem

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// Attributes are the attributes of the backend block.
var Attributes = []statebackend.Attribute{
	{Name: "lock_id", Type: statebackend.String},
}

// shared has all states of this process.
var shared = &store{states: map[string]*state{}}

// Backend is the backend "inmem". It is safe for concurrent use.
type Backend struct{ store *store }

// Open opens the backend. If the attribute lock_id is set, Open locks the default workspace under that ID,
// unless the workspace is locked already. Release such a lock with force-unlock.
func Open(attributes map[string]any) (*Backend, error) { return open(shared, attributes) }

func open(in *store, attributes map[string]any) (*Backend, error) {
	var config struct {
		LockID string `json:"lock_id"`
	}
	if err := statebackend.Decode(Attributes, attributes, &config); err != nil {
		return nil, err
	}
	if config.LockID != "" {
		info := statebackend.NewLockInfo("test", "")
		info.ID, info.Info, info.Path = config.LockID, "test config", statebackend.DefaultWorkspace
		in.mu.Lock()
		defer in.mu.Unlock()
		if s := in.of(statebackend.DefaultWorkspace); s.lock == nil {
			s.lock = &info
		}
	}
	return &Backend{in}, nil
}

// Workspaces implements statebackend.Backend: it lists the workspaces that have a state.
func (b *Backend) Workspaces(ctx context.Context) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.store.mu.Lock()
	defer b.store.mu.Unlock()
	var names []string
	for name, s := range b.store.states {
		if s.data != nil && name != statebackend.DefaultWorkspace {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return append([]string{statebackend.DefaultWorkspace}, names...), nil
}

// DeleteWorkspace implements statebackend.Backend: it removes the state if its version is still prev.
func (b *Backend) DeleteWorkspace(ctx context.Context, name string, prev statebackend.Version) error {
	if name == statebackend.DefaultWorkspace {
		return errors.New("the default workspace cannot be deleted")
	}
	if err := errors.Join(ctx.Err(), statebackend.CheckWorkspaceName(name)); err != nil {
		return err
	}
	b.store.mu.Lock()
	defer b.store.mu.Unlock()
	s := b.store.of(name)
	if s.data == nil {
		return nil
	}
	if s.token() != prev {
		return &statebackend.ConflictError{Path: name, Want: prev, Found: s.token()}
	}
	s.data = nil
	s.version++
	return nil
}

// Open implements statebackend.Backend: it returns the state of a workspace.
func (b *Backend) Open(name string) (statebackend.Workspace, error) {
	if err := statebackend.CheckWorkspaceName(name); err != nil {
		return nil, err
	}
	return &workspace{store: b.store, name: name}, nil
}

// A store has the states, by workspace.
type store struct {
	mu     sync.Mutex
	states map[string]*state
}

// of returns the state of a workspace. The caller holds mu.
func (s *store) of(name string) *state {
	if s.states[name] == nil {
		s.states[name] = &state{}
	}
	return s.states[name]
}

// A state is the state of one workspace.
type state struct {
	data    []byte // nil: there is none
	version int    // counts writes and deletions
	lock    *statebackend.LockInfo
}

func (s *state) token() statebackend.Version {
	if s.data == nil {
		return ""
	}
	return statebackend.Version(strconv.Itoa(s.version))
}

func (s *state) held() statebackend.HeldLock {
	return statebackend.HeldLock{Kind: statebackend.MemoryLock, Info: *s.lock}
}

// put stores a state if the present version is prev.
func (s *state) put(name string, data []byte, prev statebackend.Version) (statebackend.Version, error) {
	if len(data) == 0 {
		panic("inmem: Put of an empty state")
	}
	if s.data != nil && bytes.Equal(s.data, data) {
		return s.token(), nil
	}
	if s.token() != prev {
		return "", &statebackend.ConflictError{Path: name, Want: prev, Found: s.token()}
	}
	s.data = bytes.Clone(data)
	s.version++
	return s.token(), nil
}
