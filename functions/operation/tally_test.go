package operation

import (
	"slices"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// TestSpared holds that a deletion that was not necessary is neither left nor done, in this process and after it.
func TestSpared(t *testing.T) {
	t.Parallel()
	in, err := addrs.ParseAbsResourceInstance("dns_record.a")
	if err != nil {
		t.Fatal(err)
	}
	current := addrs.ResourceInstanceObject{Instance: in}
	deposed := addrs.ResourceInstanceObject{Instance: in, Deposed: "00000001"}
	p := &plans.Plan{Changes: []*plans.ResourceChange{
		{Addr: current, Change: plans.Change{Action: plans.CreateThenDelete}},
		{Addr: deposed, Change: plans.Change{Action: plans.Delete}},
	}}
	tally := newTally(p)
	for _, e := range []events.Event{
		{Kind: events.ApplyStart, Addr: current, Action: plans.Create}, {Kind: events.ApplyDone, Addr: current, Action: plans.Create},
		{Kind: events.ApplySpared, Addr: current, Action: plans.Delete}, {Kind: events.ApplySpared, Addr: deposed, Action: plans.Delete},
	} {
		tally.count(e)
	}
	if left := tally.Left(); left != nil || tally.Done() != (counting.Counts{Add: 1}) {
		t.Errorf("left %v, done %v", left, tally.Done())
	}
	tally = newTally(p)
	tally.goOn(&journaling.Progress{State: states.Empty()})
	if want := []Action{{current, plans.Delete}, {current, plans.Create}}; !slices.Equal(tally.Left(), want) {
		t.Errorf("left %v, want %v", tally.Left(), want)
	}
}
