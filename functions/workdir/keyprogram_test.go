package workdir

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestRunKeyProgram holds that a program runs in the working directory without a shell, and within its limits.
func TestRunKeyProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := &Dir{Path: dir, Environ: []string{"PATH=" + os.Getenv("PATH"), "MARK=here"}}
	run := func(command ...string) (string, error) {
		out, err := d.RunKeyProgram(t.Context(), command, []byte("input"))
		return string(out), err
	}
	// A process that another test starts meanwhile would have the file open for writing. The kernel does not start such a file.
	syscall.ForkLock.RLock()
	err := os.WriteFile(filepath.Join(dir, "keys.sh"), []byte("#!/bin/sh\necho \"$1 $MARK $(cat)\"\npwd -P\n"), 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := run("./keys.sh", "$(id); a b"); err != nil || got != "$(id); a b here input\n"+real+"\n" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := run("sh", "-c", "echo so it is >&2; exit 3"); err == nil || got != "" || err.Error() != "exit status 3. It wrote: so it is" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := run("./none.sh"); err == nil || !strings.Contains(err.Error(), "none.sh") {
		t.Error(err)
	}
	if got, err := run("sh", "-c", "head -c 2000000 /dev/zero"); err == nil || got != "" || err.Error() != "it wrote more than 1048576 bytes" {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := run("sh", "-c", "head -c 2000000 /dev/zero | tr '\\0' x >&2; exit 1"); err == nil || len(err.Error()) > 3000 {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
	if out, err := run("true"); err != nil || out != "" {
		t.Errorf("a program that reads nothing: %q, %v", out, err)
	}
	// A process that the program leaves behind does not keep its end from being seen.
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if _, err := d.RunKeyProgram(ctx, []string{"sh", "-c", "sleep 20 & sleep 20"}, nil); err == nil || time.Since(begun) > 10*time.Second {
		t.Errorf("%v after %s", err, time.Since(begun))
	}
}
