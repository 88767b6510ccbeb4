package local

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// TestUnlockWhileAProcessStarts holds that a lock is gone when it was released, although
// a process that is being started still has its file.
func TestUnlockWhileAProcessStarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// A file that the lock itself has created would be removed with it.
	if err := os.WriteFile(filepath.Join(dir, "terraform.tfstate"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := open(t, dir)
	w, err := b.Open("default")
	if err != nil {
		t.Fatal(err)
	}
	id, err := w.Lock(t.Context(), statebackend.NewLockInfo("OperationTypePlan", "1.0"))
	if err != nil {
		t.Fatal(err)
	}
	inherited, err := unix.Dup(int(w.(*workspace).held.file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(inherited)
	if err := w.Unlock(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Lock(t.Context(), statebackend.NewLockInfo("OperationTypeApply", "1.0")); err != nil {
		t.Error(err)
	}
}
