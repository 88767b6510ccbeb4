package executor

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/operation"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// TestDoubts holds that an object of which nobody knows whether it exists is planned once a person imports it, and one that a
// living run is creating is not.
func TestDoubts(t *testing.T) {
	t.Parallel()
	open := func(address string) journaling.Open {
		return journaling.Open{Intent: journaling.Intent{Address: address}}
	}
	r := operation.Recovery{Unresolved: []journaling.Open{open("x.a"), open(`x.b["k"]`), open("x.c")}, UnderWay: []journaling.Open{open("x.d")}}
	var got []string
	for _, a := range doubts(r, jobs.Job{Options: grammar.Options{Imports: []string{`x.b["k"] the id`, "x.d id"}}}) {
		got = append(got, a.String())
	}
	if diff := cmp.Diff([]string{"x.a", "x.c", "x.d"}, got); diff != "" {
		t.Error(diff)
	}
}
