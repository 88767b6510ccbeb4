package applying

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/session"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// outputs evaluates what is left to evaluate, and records root outputs and the
// results of conditions. What depends on something that failed keeps its old value.
func (a *applier) outputs() {
	if a.in.Plan.Mode == plans.DestroyMode {
		a.destroyed()
		return
	}
	a.report(a.s.Eval.Force(a.skip))
	a.report(session.CheckBlocks(a.s.Eval, a.in.Config.Order, a.skipCheck))
	if a.in.Plan.Mode != plans.RefreshOnlyMode || a.in.Plan.Applyable {
		a.recordOutputs() // else what is not known now is no reason to forget what was
	}
	a.state.SetChecks(session.CheckResults(a.in.Config, a.settled(a.s.Eval.Checks()), a.in.Plan.Checks))
}

// recordOutputs records root outputs, but for those that wait for what failed.
func (a *applier) recordOutputs() {
	for _, c := range a.in.Plan.Outputs {
		if c.Action == plans.Delete {
			a.state.RemoveOutput(c.Name)
			continue
		}
		if a.waits(addrs.Object{Kind: addrs.KindOutput, Name: c.Name}) {
			continue
		}
		o := a.in.Config.Root.Outputs[c.Name]
		v, ds := a.s.Eval.Output(addrs.RootModuleInstance, c.Name)
		if ds.HasErrors() {
			continue
		}
		plain := marks.Plain(v)
		if planned := marks.Plain(c.After); planned.IsWhollyKnown() {
			plain = planned // as the plan's file has it, which knows no negative zero
		}
		switch {
		case plain.IsNull():
			a.state.RemoveOutput(c.Name)
		default: // what is not known, because it is not part of this plan, is null
			a.state.SetOutput(c.Name, states.Output{Value: schema.UnknownAsNull(plain), Sensitive: o.Sensitive})
		}
	}
}

// settled adds what a plan has found to the results of conditions, where a refresh is all there
// is: nothing that happens now could change those of resources, and data of a check that could
// not be read are not read again.
func (a *applier) settled(list []eval.Checked) []eval.Checked {
	if a.in.Plan.Mode != plans.RefreshOnlyMode {
		return list
	}
	failed := map[eval.Subject]eval.Checked{}
	for _, c := range a.in.Plan.Checks {
		for _, o := range c.Objects {
			s := eval.Subject{Kind: c.Kind, Config: c.ConfigAddr, Object: o.Addr}
			found := eval.Checked{Subject: s, Status: eval.Status(o.Status), Failures: o.Failures}
			switch {
			case c.Kind == "resource":
				list = append(list, found)
			case c.Kind == eval.KindCheck && found.Status == eval.Fail:
				failed[s] = found
			}
		}
	}
	for i, c := range list {
		if found, ok := failed[c.Subject]; ok && c.Status == eval.Pass {
			list[i] = found
		}
	}
	return list
}

// skipCheck is skip for check blocks: of one whose data were to be read and were not asked for,
// nothing is known.
func (a *applier) skipCheck(o addrs.Object) bool {
	if o.Kind == addrs.KindCheck {
		if d := a.in.Config.Modules[o.Module].Checks[o.Name].Data; d != nil && a.unasked[addrs.ConfigResource{Module: o.Module, Resource: d.Addr}] {
			return true
		}
	}
	return a.skip(o)
}

// destroyed takes out of the state what has no life of its own, but for data that objects
// depend on which could not be destroyed.
func (a *applier) destroyed() {
	for _, c := range a.in.Plan.Outputs {
		a.state.RemoveOutput(c.Name)
	}
	a.state.SetChecks(session.CheckResults(a.in.Config, nil, a.in.Plan.Checks))
	needed := a.neededData()
	for _, x := range a.in.Plan.ForgottenData(a.state.Current()) {
		if !needed[x.Config()] {
			a.state.RemoveInstance(x)
		}
	}
}

// neededData returns the data that objects of the state were made with.
func (a *applier) neededData() map[addrs.ConfigResource]bool {
	needed := map[addrs.ConfigResource]bool{}
	seen := map[*states.Dependencies]bool{}
	for abs, r := range a.state.Current().Resources() {
		if abs.Resource.Mode != addrs.Managed {
			continue
		}
		for _, in := range r.Instances {
			if in.Current == nil || seen[in.Current.Dependencies] {
				continue
			}
			seen[in.Current.Dependencies] = true
			for _, cr := range in.Current.Dependencies.All() {
				if cr.Resource.Mode == addrs.Data {
					needed[cr] = true
				}
			}
		}
	}
	return needed
}

// skip reports whether a named value depends on what is not part of this plan, or failed.
func (a *applier) skip(o addrs.Object) bool {
	if a.waits(o) {
		return true
	}
	if !a.in.Plan.Partial() {
		return false
	}
	if !a.checked(o) {
		return true // what is needed is evaluated when it is
	}
	if o.Kind == addrs.KindCheck && a.namesData(o) {
		return true // the plan has no more than that it is unknown
	}
	if o.Kind == addrs.KindCheck && len(a.in.Plan.Excludes) > 0 || a.unplanned(o) {
		return true
	}
	for _, u := range a.in.Refs.Resources(o) {
		if u.Kind == addrs.KindResource && !a.planned(u) {
			return true
		}
	}
	return false
}

// namesData reports whether the targets name the data of a check block rather than what
// the check depends on.
func (a *applier) namesData(check addrs.Object) bool {
	d := a.in.Config.Modules[check.Module].Checks[check.Name].Data
	return d != nil && slices.ContainsFunc(a.in.Plan.Targets, func(t addrs.Target) bool {
		m := t.Module.Module()
		return t.IsModule() && m.Contains(check.Module) || !t.IsModule() && m == check.Module && t.Resource == d.Addr
	})
}

// checkKinds are the kinds of results of the conditions of named values and checks.
var checkKinds = map[addrs.ObjectKind]string{addrs.KindVariable: "var", addrs.KindOutput: "output_value", addrs.KindCheck: eval.KindCheck}

// checked reports whether a value has conditions of which the plan has a result.
func (a *applier) checked(o addrs.Object) bool {
	return a.results()[conditioned{checkKinds[o.Kind], o.String()}] > 0
}

// conditioned is something that has conditions, by the kind that results have.
type conditioned struct{ kind, addr string }

// resultsOf returns how many objects a plan has results of.
func resultsOf(plan *plans.Plan) map[conditioned]int {
	out := make(map[conditioned]int, len(plan.Checks))
	for _, c := range plan.Checks {
		out[conditioned{c.Kind, c.ConfigAddr}] += len(c.Objects)
	}
	return out
}

// unplanned reports whether an output of the root module is not part of this plan: what it
// needs may not be either.
func (a *applier) unplanned(o addrs.Object) bool {
	return o.Kind == addrs.KindOutput && o.Module == addrs.RootModule && !a.plannedOutputs()[o.Name]
}

// planned reports whether the plan has instance keys for a block.
func (a *applier) planned(o addrs.Object) bool {
	m := a.in.Config.Modules[o.Module]
	ins, ds := a.s.Eval.Modules(m)
	if ds.HasErrors() {
		return false
	}
	for _, in := range ins {
		if _, ok := a.in.Plan.Instances.Resources[addrs.AbsResource{Module: in, Resource: o.Res}]; !ok {
			return false
		}
	}
	return true
}
