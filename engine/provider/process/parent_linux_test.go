package process_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/provider/process"
	"github.com/lockstep-iac/lockstep/engine/provider/providertest"
)

// host is the test binary as a program that starts a plugin and is killed.
func host() {
	c, err := process.Launch{Path: os.Getenv("PLUGIN"), Env: []string{"LAB_DIR=" + os.Getenv("LAB_DIR")}}.Start(context.Background(), nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	config := cty.ObjectVal(attrs{"region": cty.NullVal(cty.String), "trouble": cty.NullVal(cty.String)})
	fmt.Fprintln(os.Stderr, c.Configure(context.Background(), config))
}

// TestKilledParent: a plugin does not outlive a host that had no chance to end it.
func TestKilledParent(t *testing.T) {
	t.Parallel()
	me, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.Command(me)
	cmd.Env = []string{"PRETEND=host", "LAB_DIR=" + dir, "PLUGIN=" + providertest.Find(t, "lockstep/lab").Path}
	var stderr syncBuffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid string
	eventually(t, func() bool {
		entries, _ := os.ReadDir(filepath.Join(dir, "pids"))
		if len(entries) == 1 {
			pid = entries[0].Name()
		}
		return pid != ""
	})
	if !alive(pid) {
		t.Errorf("the plugin does not run beside its host: %s", &stderr)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	eventually(t, func() bool { return !alive(pid) })
}

// alive reports whether a process is there, and not only waits to be waited for.
func alive(pid string) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}

func eventually(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not happen")
		}
	}
}
