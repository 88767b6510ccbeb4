package admission

import (
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// TestPlanAgain holds when a plan is made again: if every reason is one that an equal plan settles,
// and not twice.
func TestPlanAgain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*Request)
		want   bool
	}{
		"nothing moved":         {func(*Request) {}, false},
		"the state":             {func(q *Request) { q.State.Serial++ }, true},
		"a first state":         {func(q *Request) { q.Run.Plan.State = runs.StateID{} }, true},
		"another lineage":       {func(q *Request) { q.State.Lineage = "m" }, false},
		"a state that is gone":  {func(q *Request) { q.State = &runs.StateID{} }, false},
		"the version":           {func(q *Request) { q.OtherVersion = true }, true},
		"the version and state": {func(q *Request) { q.OtherVersion = true; q.State.Serial++ }, true},
		"the state and head":    {func(q *Request) { q.State.Serial++; q.Pull.Head.SHA = headTwo }, false},
		"files around":          {func(q *Request) { q.Around = []string{"x"} }, true},
		"files":                 {func(q *Request) { q.Differ = []string{"x"} }, false},
		"the place": {func(q *Request) {
			q.State.Serial++
			q.Placing = &Placing{Reasons: reasons.List{reasons.PlaceKeptElse{}}}
		}, false},
		"it was made again": {func(q *Request) { q.State.Serial++; q.Again = &Again{State: *q.State} }, false},
	} {
		q := allowed()
		test.change(&q)
		if got := Decide(q); got.PlanAgain() != test.want {
			t.Errorf("%s: %v, reasons %+v", name, got.PlanAgain(), got.Reasons)
		}
	}
}

// TestSettled holds that a decision which allows an apply by a plan made again has the reasons for
// that, for people, and one that refuses has them in its reason.
func TestSettled(t *testing.T) {
	t.Parallel()
	q := allowed()
	q.State.Serial, q.OtherVersion = 4, true
	q.Again = &Again{State: *q.State, Equal: true, Hash: headTwo}
	if d := Decide(q); !d.Allowed() || len(d.Settled()) != 2 {
		t.Errorf("%+v", d)
	}
	q.Again.Equal = false
	d := Decide(q)
	if r, ok := d.Reasons[0].(reasons.PlanDiffers); !ok || len(r.Since) != 2 || r.Plan != headTwo || d.Stale() {
		t.Errorf("%+v", d)
	}
}
