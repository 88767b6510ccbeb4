package program

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
)

// endless is a configuration whose evaluation takes hours.
const endless = `
locals {
  k     = range(1000)
  large = flatten([for i in range(100) : local.k])
  x     = [for a in local.large : a if length([for b in local.large : b if length([for c in local.large : c if c < 0]) > 0]) > 0]
}
output "x" {
  value = local.x
}
`

// Ctrl-C and SIGTERM end an evaluation, whichever command evaluates; nothing stays locked.
func TestInterruptedWhileEvaluating(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line, typed string
		signal      syscall.Signal
	}{
		{"plan", "", syscall.SIGINT},
		{"plan", "", syscall.SIGTERM},
		{"apply -auto-approve", "", syscall.SIGTERM},
		{"refresh", "", syscall.SIGINT},
		{"console", "local.x\n", syscall.SIGTERM},
	} {
		t.Run(c.line+" "+c.signal.String(), func(t *testing.T) {
			t.Parallel()
			d := &labDir{Dir: programtest.NewDir(t, "main.tf", endless)}
			r := d.starting(c.line)
			r.cmd.Stdin = strings.NewReader(c.typed)
			if err := r.cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { r.cmd.Process.Kill() })
			programtest.WaitFor(t, "the evaluation is under way", func() bool { return ticks(t, r.cmd.Process.Pid) > 50 })
			r.signal(c.signal)
			check(t, r.end(), 1, c.line, "Interrupt received.", "interrupted")
			if d.has(".terraform.tfstate.lock.info") {
				t.Error("the lock is still held")
			}
		})
	}
}

// ticks returns how much processor time a process of ours has had, in hundredths of a
// second. Source: proc_pid_stat(5), utime.
func ticks(t *testing.T, pid int) int {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	n, err := strconv.Atoi(strings.Fields(rest)[11])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
