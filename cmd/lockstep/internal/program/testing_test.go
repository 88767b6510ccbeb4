package program

import (
	"syscall"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
)

// twoRuns makes the objects of slowConfig, with a trouble, and has a second run.
func twoRuns(trouble string) string {
	return "run \"first\" {\n  variables {\n    trouble = \"" + trouble + "\"\n  }\n}\nrun \"second\" {\n}\n"
}

// The first interrupt of a test lets the call under way finish, and destroys what was made. The second one ends a test that never
// ends by itself, and tells what exists.
func TestInterruptedTests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, trouble string
		signals       []syscall.Signal
		says          []string
		left          bool
	}{
		{"goes on for a while", "create-1500", []syscall.Signal{syscall.SIGINT},
			[]string{"Interrupt received.", `run "first"... fail`, "Test interrupted", `run "second"... skip`, "a.tftest.hcl... tearing down", "Failure! 0 passed, 1 failed, 1 skipped."}, false},
		{"hangs for good", "create-600000", []syscall.Signal{syscall.SIGINT, syscall.SIGINT},
			[]string{"Two interrupts received.", "It was ended before it could answer", "These objects exist after a.tftest.hcl/first", "  - lab_thing.before", "The state of the test is in errored_test.tfstate"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newLab(t, "main.tf", slowConfig, "a.tftest.hcl", twoRuns(c.trouble))
			d.want(0, "init")
			r := d.start("test")
			programtest.WaitFor(t, "create is under way", func() bool { return d.has("lab/create.under-way") })
			for i, s := range c.signals {
				if i > 0 {
					r.says("Interrupt received.")
				}
				r.signal(s)
			}
			check(t, r.end(), 1, "test", c.says...)
			if got := d.has("lab/lab_thing/before-1.json"); got != c.left {
				t.Errorf("an object is left: %t", got)
			}
			if got := d.has("errored_test.tfstate"); got != c.left {
				t.Errorf("its state is left: %t", got)
			}
		})
	}
}

// A test that is killed leaves its state and its journal. The next test tells what exists, and keeps the state beside the module.
func TestKilledTests(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tf", slowConfig, "a.tftest.hcl", twoRuns("create-600000"))
	d.want(0, "init")
	r := d.start("test")
	programtest.WaitFor(t, "create is under way", func() bool { return d.has("lab/create.under-way") })
	r.signal(syscall.SIGKILL)
	r.end()
	const line = "test -filter=none"
	d.want(0, line, "A killed test has left objects", "  - lab_thing.before\n", "  - lab_thing.a, which may or may not exist", "lockstep state list -state=errored_test.tfstate")
	d.want(0, "state list -state=errored_test.tfstate", "lab_thing.before")
	if got := d.want(0, line); got.Stderr != "" || d.has("errored_test-2.tfstate") {
		t.Errorf("the same objects are reported twice: %s", got.Stderr)
	}
}
