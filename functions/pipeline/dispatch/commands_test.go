package dispatch

import (
	"slices"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// TestCommands holds that no command is half there: each verb of the grammar has a handler and,
// unless it acts on no project, rules of the gate; and none has these without a grammar.
func TestCommands(t *testing.T) {
	all := comment.Verbs()
	for _, v := range all {
		if handlers[v] == nil {
			t.Errorf("%s has no handler", v)
		}
		if runs.Guards(v) == slices.Contains(ungated, v) {
			t.Errorf("%s: rules of the gate %v", v, runs.Guards(v))
		}
	}
	if len(handlers) != len(all) {
		t.Errorf("%d handlers for the verbs %q", len(handlers), all)
	}
}
