package runs

import (
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// TestOutputsPlanned holds that a plan with planned outputs is never applied as it is: it is made again with the state
// locked, and applied if it is the same.
func TestOutputsPlanned(t *testing.T) {
	t.Parallel()
	of := func(on map[string]string) Request {
		q := allowed()
		q.Run.Parts = &Parts{Inputs: q.Run.Inputs, State: q.Run.State, Saved: q.Run.PlanHash, PlannedOn: on}
		hash := q.Run.Parts.Hash()
		q.Run.PlanHash, q.OnGitHub = hash, &hash
		return q
	}
	q := of(map[string]string{"a%2Fnet@default": "hash", "a%2Fnet@blue": "hash", "dns@default": ""})
	d := Gate(q)
	if !d.PlanAgain() || len(d.Reasons) != 1 || len(d.Reasons[0].(reasons.OutputsPlanned).Projects) != 1 || d.Reasons[0].(reasons.OutputsPlanned).Projects[0] != "a/net" || d.Stale() {
		t.Errorf("%+v", d)
	}
	q.Again = &Again{State: *q.State, Equal: true}
	if d := Gate(q); !d.Allowed() || len(d.Settled()) != 1 {
		t.Errorf("the same: %+v", d)
	}
	q.Again.Equal = false
	if d := Gate(q); d.Allowed() {
		t.Error("another one is allowed")
	}
	if d := Gate(of(map[string]string{"dns@default": ""})); !d.Allowed() {
		t.Errorf("with stored outputs: %+v", d)
	}
	early := of(map[string]string{"net@default": "hash"})
	early.State = nil
	if d := Gate(early); !d.Allowed() {
		t.Errorf("before the state is known: %+v", d)
	}
	q.Verb = comment.Plan
	for now, want := range map[string]bool{"hash": false, "another": true, "": true} {
		q := of(map[string]string{"net@default": "hash"})
		q.Verb, q.PlannedOn = comment.Plan, map[string]string{"net@default": now}
		if got := outputsPlanned(&q) != nil; got != want {
			t.Errorf("checked with %q: %t", now, got)
		}
	}
}
