package local

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// TestUnlockOfADeadProcess is a table of descriptions that a dead process has left.
func TestUnlockOfADeadProcess(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, described, id string
		want                error
		left                bool
	}{
		{"by its ID", "dead", "dead", nil, false},
		{"by another ID", "dead", "other", statebackend.ErrNotLocked, true},
		{"by none", "", "", statebackend.ErrNotLocked, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "terraform.tfstate")
			write(t, path, "d0")
			description, err := json.Marshal(statebackend.LockInfo{ID: test.described})
			if err != nil {
				t.Fatal(err)
			}
			write(t, infoPath(path), string(description))
			w, err := open(t, dir).Open("default")
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Unlock(t.Context(), test.id); !errors.Is(err, test.want) {
				t.Errorf("Unlock: %v, want %v", err, test.want)
			}
			if _, err := os.Stat(infoPath(path)); (err == nil) != test.left {
				t.Errorf("the description: %v", err)
			}
		})
	}
}

// TestGuardOfAnother holds that somebody else's guard stops a writer without the lock, until its
// context ends, and delays a writer with the lock only.
func TestGuardOfAnother(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "terraform.tfstate")
	write(t, path, "d0")
	w, err := open(t, dir).Open("default")
	if err != nil {
		t.Fatal(err)
	}
	now, err := w.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := flock(other, exclusive); err != nil {
		statebackendtest.Missing(t, "no such guard here: "+err.Error())
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := w.Put(short, []byte("d1"), now.Version); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Put without the lock: %v", err)
	}
	wantFiles(t, dir, "terraform.tfstate d0")
	id, err := w.Lock(t.Context(), statebackend.NewLockInfo("x", "1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Put(t.Context(), []byte("d1"), now.Version); err != nil {
		t.Errorf("Put with the lock: %v", err)
	}
	if err := w.Unlock(t.Context(), id); err != nil {
		t.Error(err)
	}
	wantFiles(t, dir, "terraform.tfstate d1\nterraform.tfstate.backup d0")
}
