package admission

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// TestOutputsPlanned holds that a plan with planned outputs is never applied as it is: it is made again with the state
// locked, and applied if it is the same.
func TestOutputsPlanned(t *testing.T) {
	t.Parallel()
	of := func(on map[string]string) Request {
		q := allowed()
		q.Run.Plan.Parts = &runs.PlanParts{Inputs: q.Run.Plan.Inputs, State: q.Run.Plan.State, Saved: q.Run.Plan.Hash, PlannedOn: on}
		hash := q.Run.Plan.Parts.Hash()
		q.Run.Plan.Hash, q.OnGitHub = hash, &hash
		return q
	}
	q := of(map[string]string{"a%2Fnet@default": "hash", "a%2Fnet@blue": "hash", "dns@default": ""})
	d := Decide(q)
	if !d.PlanAgain() || len(d.Reasons) != 1 || len(d.Reasons[0].(reasons.OutputsPlanned).Projects) != 1 || d.Reasons[0].(reasons.OutputsPlanned).Projects[0] != "a/net" || d.Stale() {
		t.Errorf("%+v", d)
	}
	settles(t, q)
	if d := Decide(of(map[string]string{"dns@default": ""})); !d.Allowed() {
		t.Errorf("with stored outputs: %+v", d)
	}
	early := of(map[string]string{"net@default": "hash"})
	early.State = nil
	if d := Decide(early); !d.Allowed() {
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

// TestOutputsMoved holds that a plan is made again with the state locked where a project that it depends on was applied since.
func TestOutputsMoved(t *testing.T) {
	t.Parallel()
	type applies = map[string]int
	for _, test := range []struct {
		name         string
		reads, now   applies
		planned      map[string]string
		want         string
		stateUnknown bool
	}{
		{name: "none", want: ""},
		{name: "as it was", reads: applies{"net@default": 2}, now: applies{"net@default": 2}},
		{name: "applied", reads: applies{"net@default": 2}, now: applies{"net@default": 3}, want: "net"},
		{name: "applied for the first time", reads: applies{"net@default": 0}, now: applies{"net@default": 1}, want: "net"},
		{name: "both of a name", reads: applies{"a%2Fnet@default": 0, "a%2Fnet@blue": 0}, now: applies{"a%2Fnet@default": 1, "a%2Fnet@blue": 1}, want: "a/net"},
		{name: "one of two", reads: applies{"net@default": 2, "dns@default": 1}, now: applies{"net@default": 2, "dns@default": 2}, want: "dns"},
		{name: "another's", reads: applies{"net@default": 2}, now: applies{"net@default": 2, "dns@default": 9}},
		{name: "forgotten", reads: applies{"net@default": 2}, now: applies{}},
		{name: "planned with its planned outputs", reads: applies{"net@default": 2}, now: applies{"net@default": 3}, planned: map[string]string{"net@default": "hash"}},
		{name: "planned with its stored ones", reads: applies{"net@default": 2}, now: applies{"net@default": 3}, planned: map[string]string{"net@default": ""}, want: "net"},
		{name: "before the state is locked", reads: applies{"net@default": 2}, now: applies{"net@default": 3}, stateUnknown: true},
	} {
		q := allowed()
		q.Run.Plan.Reads, q.Applied = test.reads, test.now
		if test.planned != nil {
			q.Run.Plan.Parts = &runs.PlanParts{PlannedOn: test.planned}
		}
		if test.stateUnknown {
			q.State = nil
		}
		got := ""
		if r, ok := outputsMoved(&q).(reasons.OutputsMoved); ok {
			got = strings.Join(r.Projects, " ")
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	q := allowed()
	q.Run.Plan.Reads, q.Applied = applies{"net@default": 2}, applies{"net@default": 3}
	if d := Decide(q); !d.PlanAgain() || len(d.Reasons) != 1 {
		t.Errorf("%+v", d)
	}
	settles(t, q)
}

// settles holds that the plan is applied once it is made again and is the same, and not if it is another one.
func settles(t *testing.T, q Request) {
	t.Helper()
	q.Again = &Again{State: *q.State, Equal: true}
	if d := Decide(q); !d.Allowed() || len(d.Settled()) != 1 {
		t.Errorf("the same: %+v", d)
	}
	q.Again.Equal = false
	if d := Decide(q); d.Allowed() {
		t.Error("another one is allowed")
	}
}
