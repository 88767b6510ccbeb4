package executor

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// TestWithoutIgnoredDrift holds which objects of a plan rules leave out, and that the plan itself stays as it is.
func TestWithoutIgnoredDrift(t *testing.T) {
	t.Parallel()
	object := func(size int64, owner string) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{"size": cty.NumberIntVal(size), "tags": cty.MapVal(map[string]cty.Value{"owner": cty.StringVal(owner).Mark("sensitive")}), "list": cty.ListVal([]cty.Value{cty.NumberIntVal(size)})})
	}
	change := func(name string, key addrs.InstanceKey, action plans.Action, before, after cty.Value) *plans.ResourceChange {
		r := addrs.ResourceInstance{Resource: addrs.Resource{Mode: addrs.Managed, Type: "x_y", Name: name}, Key: key}
		at := addrs.AbsResourceInstance{Module: addrs.RootModuleInstance.Child("m", addrs.StringKey("k")), Resource: r}
		return &plans.ResourceChange{Addr: addrs.ResourceInstanceObject{Instance: at}, Change: plans.Change{Action: action, Before: before, After: after}}
	}
	was, tagged, grown := object(1, "a"), object(1, "b"), object(2, "a")
	plan := &plans.Plan{Drift: []*plans.ResourceChange{
		change("tagged", addrs.NoKey, plans.Update, was, tagged),
		change("tagged", addrs.IntKey(3), plans.Update, was, tagged),
		change("grown", addrs.NoKey, plans.Update, was, grown),
		change("gone", addrs.NoKey, plans.Delete, was, cty.NullVal(was.Type())),
		change("other", addrs.NoKey, plans.Delete, was, cty.NullVal(was.Type())),
	}}
	rule := func(name string, attribute ...string) project.IgnoredDrift {
		return project.IgnoredDrift{Module: []string{"m"}, Type: "x_*", Name: name, Attribute: attribute}
	}
	for _, x := range []struct {
		rules []project.IgnoredDrift
		want  int
	}{
		{nil, 0}, {[]project.IgnoredDrift{rule("*", "tags")}, 2}, {[]project.IgnoredDrift{rule("*", "size")}, 0},
		{[]project.IgnoredDrift{rule("*", "size"), rule("grown", "list")}, 1}, {[]project.IgnoredDrift{rule("gone")}, 1}, {[]project.IgnoredDrift{rule("*")}, 5},
	} {
		shown, ignored := withoutIgnoredDrift(plan, x.rules)
		if ignored != x.want || len(shown.Drift) != 5-x.want || len(plan.Drift) != 5 {
			t.Errorf("%+v: %d ignored, %d shown, %d in the plan", x.rules, ignored, len(shown.Drift), len(plan.Drift))
		}
	}
}
