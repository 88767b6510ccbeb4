package eval_test

import (
	"testing"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
)

// TestTooManyInstances expands blocks within a budget of three instances for each, and of four for
// all.
func TestTooManyInstances(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		repetition string
		unexpanded bool
		want       bool
	}{
		{"count = 3", false, true},
		{"count = 4", false, false},
		{"count = 4", true, true},
		{"for_each = { a = 1, b = 2, c = 3 }", false, true},
		{"for_each = { a = 1, b = 2, c = 3, d = 4 }", false, false},
		{"for_each = { a = 1, b = 2, c = 3, d = 4 }", true, true},
		{`for_each = toset(["a", "b", "c", "d"])`, false, false},
		{`for_each = toset(["a", "b", "c", "d"])`, true, true},
	} {
		w := world(t, "resource \"t_x\" \"a\" {\n  "+c.repetition+"\n}\nresource \"t_x\" \"other\" {\n  count = 2\n}\n")
		limits := budget.Generous().Limits()
		limits.Instances, limits.AllInstances = 3, 4
		w.Budget, w.Unexpanded = budget.New(limits), c.unexpanded
		e := eval.New(t.Context(), w)
		expand := func(name string) diags.Diagnostics {
			_, ds := e.ResourceInstances(addrs.RootModuleInstance, w.Config.Root.Resources[addrs.Resource{Mode: addrs.Managed, Type: "t_x", Name: name}])
			return ds
		}
		ds := expand("a")
		if ds.HasErrors() == c.want {
			t.Errorf("%s, unexpanded %v: %v", c.repetition, c.unexpanded, ds)
		}
		if ds.HasErrors() && ds[0].Expression == nil {
			t.Errorf("%s: the error has no expression to show the values of", c.repetition)
		}
		if !c.want {
			continue
		}
		if ds := expand("a"); ds.HasErrors() {
			t.Errorf("%s: it counts twice: %v", c.repetition, ds)
		}
		if ds := expand("other"); ds.HasErrors() == c.unexpanded {
			t.Errorf("%s and two more, unexpanded %v: %v", c.repetition, c.unexpanded, ds)
		}
	}
}

// TestTooManyPlannedInstances holds that instances of a plan are not counted again: a plan that
// could be made can be applied.
func TestTooManyPlannedInstances(t *testing.T) {
	t.Parallel()
	w := world(t, "resource \"t_x\" \"a\" {\n  for_each = { a = 1, b = 2, c = 3, d = 4 }\n}\n")
	limits := budget.Generous().Limits()
	limits.Instances = 3
	w.Budget = budget.New(limits)
	w.ResourceKeys = func(addrs.AbsResource) ([]addrs.InstanceKey, bool) {
		return []addrs.InstanceKey{addrs.StringKey("a")}, true
	}
	if got, want := ask(t, w, eval.New(t.Context(), w), "t_x.a"), `instances ["a"]=1`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
