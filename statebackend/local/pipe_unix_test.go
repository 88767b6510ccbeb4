//go:build unix

package local

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// TestBackupToADevice holds that -backup=/dev/null and the like are written to, and not replaced.
// A named pipe stands for the device, which a mistake here would take from everybody.
func TestBackupToADevice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		statebackendtest.Missing(t, "no pipes here: "+err.Error())
	}
	write(t, filepath.Join(dir, "terraform.tfstate"), "d0")
	b, err := Open(nil, Options{Dir: dir, BackupPath: "pipe"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(pipe, os.O_RDWR, 0) // so that no opener waits for the other side
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	apply(t, b, "default", "d1", "d2")
	info, err := os.Lstat(pipe)
	if err != nil || info.Mode().Type() != fs.ModeNamedPipe {
		t.Fatalf("the pipe: %v, %v", info.Mode(), err)
	}
	got := make([]byte, 2)
	if _, err := f.Read(got); err != nil || string(got) != "d0" {
		t.Errorf("the pipe got %q, %v", got, err)
	}
}
