package inmem

import (
	"errors"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

func TestContract(t *testing.T) {
	statebackendtest.Run(t, statebackendtest.Suite{
		Open: func(t *testing.T) statebackend.Backend {
			b, err := open(&store{states: map[string]*state{}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			return b
		},
		Kinds: []statebackend.LockKind{statebackend.MemoryLock},
	})
}

// Backends of one process share their states, and begin with the lock that the block names.
func TestSharedAndLocked(t *testing.T) {
	first, err := Open(map[string]any{"lock_id": "one"})
	if err != nil {
		t.Fatal(err)
	}
	second, err := Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := first.Open(statebackend.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	var locked *statebackend.LockedError
	if _, err := w.Lock(t.Context(), statebackend.NewLockInfo("test", "1")); !errors.As(err, &locked) || locked.Info.ID != "one" {
		t.Errorf("lock: %v", err)
	}
	if err := w.Unlock(t.Context(), "one"); err != nil {
		t.Error(err)
	}
	if _, err := w.Put(t.Context(), []byte("{}"), ""); err != nil {
		t.Fatal(err)
	}
	w, err = second.Open(statebackend.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := w.Get(t.Context()); err != nil || string(s.Bytes) != "{}" {
		t.Errorf("%q, %v", s.Bytes, err)
	}
	if _, err := Open(map[string]any{"path": "x"}); err == nil {
		t.Error("an unknown attribute is accepted")
	}
}
