package executor

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// withoutIgnoredDrift returns the plan without the objects that the rules leave out, and the number of those objects.
// The plan is only for people.
func withoutIgnoredDrift(plan *plans.Plan, rules []project.IgnoredDrift) (shown *plans.Plan, ignored int) {
	if len(rules) == 0 || len(plan.Drift) == 0 {
		return plan, 0
	}
	out := *plan
	out.Drift = slices.DeleteFunc(slices.Clone(plan.Drift), func(c *plans.ResourceChange) bool {
		return project.IgnoresDrift(rules, driftedObject(c))
	})
	return &out, len(plan.Drift) - len(out.Drift)
}

// driftedObject returns the object that a change is about, with the paths of its changed attributes.
func driftedObject(c *plans.ResourceChange) project.DriftedObject {
	at := c.Addr.Instance
	o := project.DriftedObject{Type: at.Resource.Resource.Type, Name: at.Resource.Resource.Name}
	for _, s := range at.Module.Steps() {
		o.Module = append(o.Module, s.Name)
	}
	before, _ := c.Before.UnmarkDeep()
	after, _ := c.After.UnmarkDeep()
	if c.Action != plans.Delete && c.Addr.Deposed == "" {
		o.Changed = changedPaths(before, after, nil)
	}
	return o
}

// changedPaths returns the paths of the attributes and the keys of maps in which two values differ. The elements of lists and
// sets count as their attribute.
func changedPaths(before, after cty.Value, at []string) (out [][]string) {
	if before.RawEquals(after) {
		return nil
	}
	keyed := func(v cty.Value) bool {
		return v.IsKnown() && !v.IsNull() && (v.Type().IsObjectType() || v.Type().IsMapType())
	}
	if !keyed(before) || !keyed(after) {
		return [][]string{slices.Clone(at)}
	}
	was, is := before.AsValueMap(), after.AsValueMap()
	var keys []string
	for _, m := range []map[string]cty.Value{was, is} {
		for k := range m {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range slices.Compact(keys) {
		value := func(m map[string]cty.Value) cty.Value {
			if v, ok := m[k]; ok {
				return v
			}
			return cty.NullVal(cty.DynamicPseudoType)
		}
		out = append(out, changedPaths(value(was), value(is), append(slices.Clone(at), k))...)
	}
	return out
}
