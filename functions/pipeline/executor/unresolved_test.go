package executor

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/operation"
)

// TestDoubts holds that an object of which nobody knows whether it exists is planned once a person imports it, and one that a
// living run is creating is not. An import decides nothing about an action.
func TestDoubts(t *testing.T) {
	t.Parallel()
	open := func(address string) journaling.Open {
		return journaling.Open{Intent: journaling.Intent{Address: address}}
	}
	r := operation.Recovery{Unresolved: []journaling.Open{open("x.a"), open(`x.b["k"]`), open("x.c")}, UnderWay: []journaling.Open{open("x.d")}}
	action := open("x.c")
	action.Action, action.Invokes = "invoke", "action.y.z"
	r.Unresolved[2] = action
	imports := grammar.Options{Imports: []string{`x.b["k"] the id`, "x.c id", "x.d id"}}
	var got []string
	for _, a := range doubts(r, imports) {
		got = append(got, a.String())
	}
	if diff := cmp.Diff([]string{"x.a", "x.c", "x.d"}, got); diff != "" {
		t.Error(diff)
	}
	if got := doubts(r, grammar.Options{Invoke: "action.a.b"}); got != nil {
		t.Errorf("a plan that changes no object leaves out %v", got)
	}
	if diff := cmp.Diff([]string{"x.a", "x.c"}, unsettled(r, imports)); diff != "" {
		t.Error(diff)
	}
}
