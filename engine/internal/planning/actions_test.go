package planning

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// TestFirings is the table of what a change triggers: the events of each block, and how many actions it names.
func TestFirings(t *testing.T) {
	t.Parallel()
	all := []config.Event{config.BeforeCreate, config.AfterCreate, config.BeforeUpdate, config.AfterUpdate, config.BeforeDestroy, config.AfterDestroy}
	trigger := func(actions int, events ...config.Event) *config.Trigger {
		return &config.Trigger{Events: events, Actions: make([]hcl.Expression, actions)}
	}
	for _, x := range []struct {
		name     string
		action   plans.Action
		keepsOld bool
		triggers []*config.Trigger
		want     string
		pending  string
	}{
		{"a creation", plans.Create, false, []*config.Trigger{trigger(1, all...)}, "0.0 BeforeCreate, 0.0 AfterCreate", ""},
		{"an update", plans.Update, false, []*config.Trigger{trigger(1, all...)}, "0.0 BeforeUpdate, 0.0 AfterUpdate", "0.0 AfterCreate"},
		{"a destruction", plans.Delete, false, []*config.Trigger{trigger(1, all...)}, "0.0 BeforeDestroy, 0.0 AfterDestroy", ""},
		{"a replacement", plans.DeleteThenCreate, false, []*config.Trigger{trigger(1, all...)}, "0.0 BeforeCreate, 0.0 AfterCreate, 0.0 BeforeDestroy, 0.0 AfterDestroy", ""},
		{"another order", plans.CreateThenDelete, false, []*config.Trigger{trigger(1, all...)}, "0.0 BeforeCreate, 0.0 AfterCreate, 0.0 BeforeDestroy, 0.0 AfterDestroy", ""},
		{"a replacement that keeps the old object", plans.DeleteThenCreate, true, []*config.Trigger{trigger(1, all...)}, "0.0 BeforeCreate, 0.0 AfterCreate", ""},
		{"nothing", plans.NoOp, false, []*config.Trigger{trigger(1, all...)}, "", "0.0 AfterCreate, 0.0 AfterUpdate"},
		{"forgetting", plans.Forget, false, []*config.Trigger{trigger(1, all...)}, "", ""},
		{"several blocks and actions", plans.Create, false, []*config.Trigger{trigger(2, config.AfterCreate, config.BeforeCreate), trigger(1, config.BeforeUpdate), trigger(1, config.BeforeCreate)},
			"0.0 AfterCreate, 0.1 AfterCreate, 0.0 BeforeCreate, 0.1 BeforeCreate, 2.0 BeforeCreate", ""},
	} {
		text := func(list []firing) string {
			var out []string
			for _, f := range list {
				out = append(out, fmt.Sprintf("%d.%d %s", f.trigger, f.index, f.event))
			}
			return strings.Join(out, ", ")
		}
		if got := text(firings(x.triggers, x.action, x.keepsOld)); got != x.want {
			t.Errorf("%s triggers %q, want %q", x.name, got, x.want)
		}
		if got := text(pendingFirings(x.triggers, x.action)); got != x.pending {
			t.Errorf("%s: %q may be pending, want %q", x.name, got, x.pending)
		}
	}
}
