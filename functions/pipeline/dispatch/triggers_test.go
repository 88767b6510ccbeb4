package dispatch

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// TestTriggers holds that each kind of message has a handler, and an end for when it is given up.
func TestTriggers(t *testing.T) {
	if diff := cmp.Diff(pipeline.Kinds(), slices.Sorted(maps.Keys(triggers))); diff != "" {
		t.Errorf("kinds with a queue, and kinds with a handler: %s", diff)
	}
	for kind, by := range triggers {
		if by.handle == nil || by.abandon == nil {
			t.Errorf("%s: handle %v, abandon %v", kind, by.handle != nil, by.abandon != nil)
		}
	}
}
