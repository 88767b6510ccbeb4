package applying

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// skip reports whether a named value or a check block depends on a failure, or on anything that is not part
// of this plan.
//
// For a complete plan only failures matter: everything else exists now. A partial plan itself shows which
// values it could evaluate. A value with conditions that has a result in the plan is evaluated again; one
// without a result could not be evaluated while planning, and cannot be now. Values without conditions can be
// skipped: whatever needs one evaluates it.
func (c *conclusion) skip(o addrs.Object) bool {
	if c.failures.waits(o) {
		return true
	}
	if !c.plan.Partial() {
		return false
	}
	if !c.checked(o) {
		return true // values are evaluated when needed
	}
	if o.Kind == addrs.KindCheck && c.namesData(o) {
		return true // the result in the plan is unknown, and stays unknown
	}
	if o.Kind == addrs.KindCheck && len(c.plan.Excludes) > 0 || c.unplanned(o) {
		return true
	}
	for _, u := range c.s.Refs.Resources(o) {
		if u.Kind == addrs.KindResource && !c.planned(u) {
			return true
		}
	}
	return false
}

// namesData reports whether a target names the data block of a check block, and not just a dependency of the
// check.
func (c *conclusion) namesData(check addrs.Object) bool {
	d := c.s.Config.Modules[check.Module].Checks[check.Name].Data
	return d != nil && slices.ContainsFunc(c.plan.Targets, func(t addrs.Target) bool {
		m := t.Module.Module()
		return t.IsModule() && m.Contains(check.Module) || !t.IsModule() && m == check.Module && t.Resource == d.Addr
	})
}

// checkKinds are the kinds of check results, by kind of object.
var checkKinds = map[addrs.ObjectKind]string{addrs.KindVariable: "var", addrs.KindOutput: "output_value", addrs.KindCheck: eval.KindCheck}

// checked reports whether the plan has a result for the conditions of an object.
func (c *conclusion) checked(o addrs.Object) bool {
	return c.results()[conditioned{checkKinds[o.Kind], o.String()}] > 0
}

// A conditioned is a block with conditions, identified by the kind of its results and its address.
type conditioned struct{ kind, addr string }

// resultsOf returns how many objects of each block have results in a plan.
func resultsOf(plan *plans.Plan) map[conditioned]int {
	out := make(map[conditioned]int, len(plan.Checks))
	for _, r := range plan.Checks {
		out[conditioned{r.Kind, r.ConfigAddr}] += len(r.Objects)
	}
	return out
}

// unplanned reports whether a root output is not part of this plan. The objects that such an output depends on
// may be missing.
func (c *conclusion) unplanned(o addrs.Object) bool {
	return o.Kind == addrs.KindOutput && o.Module == addrs.RootModule && !c.outputs()[o.Name]
}

// planned reports whether the plan has instance keys for a block.
func (c *conclusion) planned(o addrs.Object) bool {
	m := c.s.Config.Modules[o.Module]
	ins, ds := c.s.Eval.Modules(m)
	if ds.HasErrors() {
		return false
	}
	for _, in := range ins {
		if _, ok := c.plan.Instances.Resources[addrs.AbsResource{Module: in, Resource: o.Res}]; !ok {
			return false
		}
	}
	return true
}
