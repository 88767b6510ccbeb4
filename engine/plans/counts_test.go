package plans_test

import (
	"testing"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/plans/counting"
)

// TestCounts counts each action once, a replacement twice, and data not at all.
func TestCounts(t *testing.T) {
	t.Parallel()
	p := &plans.Plan{}
	change := func(mode addrs.ResourceMode, a plans.Action) *plans.ResourceChange {
		c := &plans.ResourceChange{}
		c.Addr.Instance.Resource.Resource.Mode, c.Action = mode, a
		p.Changes = append(p.Changes, c)
		return c
	}
	for _, a := range []plans.Action{plans.NoOp, plans.Create, plans.Update, plans.Delete, plans.DeleteThenCreate, plans.CreateThenDelete, plans.Forget} {
		change(addrs.Managed, a)
	}
	change(addrs.Data, plans.Read)
	change(addrs.Data, plans.Delete)
	change(addrs.Managed, plans.NoOp).Importing = &plans.Importing{ID: "x"}
	want := counting.Counts{Import: 1, Add: 3, Change: 1, Destroy: 3, Forget: 1}
	if got := p.Counts(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
