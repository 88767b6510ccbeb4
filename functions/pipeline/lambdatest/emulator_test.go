//go:build linux

package lambdatest_test

import (
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// TestEmulator is the main job under AWS' own runtime interface emulator: all functions start, answer, and end there as they do
// in this package's execution environments.
func TestEmulator(t *testing.T) {
	t.Parallel()
	program := statebackendtest.Part(t, "bin", "aws-lambda-rie")
	r, n := twoThings(t, func(o *lambdatest.StackOptions) { o.Emulator = program })
	r.expect("the plan", r.status(n), "2 to add", "lockstep apply")
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "**Applied**", "2 added, 0 changed, 0 destroyed")
	if serial, names := r.serial(netState); serial != 1 || len(names) != 2 {
		t.Errorf("the state has serial %d and %v", serial, names)
	}
	r.free(netState)
	r.round()
	for name, f := range r.stack.Functions {
		done := f.Invocations()
		if len(done) == 0 {
			t.Errorf("nothing invoked the function %s", name)
		}
		for i, got := range done {
			if got.Error != nil {
				t.Errorf("%s, invocation %d: %v", name, i, got.Error)
			}
			if i == 0 {
				t.Logf("%s: %v until the first answer, %v of them for the event", name, got.Init, got.Duration)
			}
		}
	}
}
