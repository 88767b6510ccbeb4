package opening_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

// TestCrashReleasesLock panics in the middle of a command that has locked the state.
func TestCrashReleasesLock(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("main.tf", []byte("output \"a\" { value = 1 }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(dir, ".terraform.tfstate.lock.info")
	var out bytes.Buffer
	a := cli.New(context.Background(), cli.Streams{In: &out, Out: &out, Err: &out}, nil)
	a.Commands = cli.Table{{Name: "boom", Run: func(a *cli.App, _ []string) int {
		op := opening.New(a)
		if ds := op.OpenAll(workdir.LocalPaths{}); ds.HasErrors() {
			t.Error(ds)
		}
		if ds := op.OpenSelected(workdir.LocalPaths{}, cli.LockFlags{Lock: true}, "OperationTypeApply"); ds.HasErrors() {
			t.Error(ds)
		}
		if _, err := os.Stat(lock); err != nil {
			t.Error(err)
		}
		panic("lost a key")
	}}}
	func() {
		defer func() {
			if r := recover(); r != "lost a key" {
				t.Errorf("the panic has become %v", r)
			}
		}()
		a.Run([]string{"boom"})
	}()
	if _, err := os.Stat(lock); err == nil {
		t.Error("the lock is left behind")
	}
}
