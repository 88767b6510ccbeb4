package dispatch

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
)

// TestCommands holds that each verb has a handler, and that a command which is half there is
// noticed: one without a handler, and one without a row of package comment. A verb that acts is
// always under the gate's rules for everybody.
func TestCommands(t *testing.T) {
	all := grammar.Verbs()
	for _, gap := range missing(all) {
		t.Error(gap)
	}
	if diff := cmp.Diff([]string{"dance has no handler"}, missing(append(all, "dance"))); diff != "" {
		t.Errorf("a new verb: %s", diff)
	}
	if diff := cmp.Diff([]string{"help has no row in the table of package grammar"}, missing(grammar.Acting())); diff != "" {
		t.Errorf("a verb that is gone: %s", diff)
	}
}

// missing names the verbs without a handler, and the handlers without a verb.
func missing(verbs []comment.Verb) []string {
	var out []string
	for _, v := range verbs {
		if handlerOf(v) == nil {
			out = append(out, fmt.Sprintf("%s has no handler", v))
		}
	}
	for v := range handlers {
		if !slices.Contains(verbs, v) {
			out = append(out, fmt.Sprintf("%s has no row in the table of package grammar", v))
		}
	}
	return out
}
