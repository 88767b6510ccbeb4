//go:build linux

package lambdatest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// TestEmulator is the main job under AWS' own runtime interface emulator: all functions start, answer, and end there as they do
// in this package's execution environments.
func TestEmulator(t *testing.T) {
	t.Parallel()
	program := statebackendtest.Part(t, "bin", "aws-lambda-rie")
	r := newPage(t, func(o *lambdatest.StackOptions) { o.Emulator = program })
	// On a slow machine, the apply stores the state more than once.
	if serial, names := r.serial(netState); serial < 1 || len(names) != 401 {
		t.Errorf("the state has serial %d and %d resources", serial, len(names))
	}
	r.free(netState)
	r.round()
	b := r.signedIn("alice")
	for _, path := range pages {
		if status, text := b.get(path); status != http.StatusOK || !strings.Contains(text, "acme/infra") {
			t.Errorf("%s: %d", path, status)
		}
	}
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
