package applying

import (
	"sync"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A conclusion ends an apply after the last step: it records outputs, the results of checks, and the
// resources without instances. Values that depend on a failure stay as they were.
type conclusion struct {
	plan     *plans.Plan
	s        *session.Session
	record   *record
	failures *failures
	report   *report
	// unread are the data blocks in check blocks that the apply did not reach.
	unread map[addrs.ConfigResource]bool
	// results returns, for each object with conditions, the number of its results in the plan.
	results func() map[conditioned]int
	// outputs returns the names of the outputs in the plan.
	outputs func() map[string]bool
}

func newConclusion(a *applier) *conclusion {
	plan := a.in.Plan
	return &conclusion{
		plan: plan, s: a.s, record: a.record, failures: a.failures, report: a.report, unread: a.unread,
		results: sync.OnceValue(func() map[conditioned]int { return resultsOf(plan) }),
		outputs: sync.OnceValue(func() map[string]bool {
			names := map[string]bool{}
			for _, c := range plan.Outputs {
				names[c.Name] = true
			}
			return names
		}),
	}
}

// values evaluates all values that no step has evaluated. It records root outputs and the results of
// conditions.
func (c *conclusion) values() {
	if c.plan.Mode == plans.DestroyMode {
		c.destroyed()
		return
	}
	if c.plan.Invoke != (addrs.AbsResourceInstance{}) {
		return // the plan is about the action alone, and has no values to record
	}
	c.report.add(c.s.Eval.Force(c.skip))
	c.report.add(session.CheckBlocks(c.s.Eval, c.s.Config.Order, c.skipCheck))
	if c.plan.Mode != plans.RefreshOnlyMode || c.plan.Applyable {
		// A plan that only refreshes, and changes nothing, records nothing: not even that the value of an
		// output is now unknown.
		outputs := c.newOutputs()
		c.record.edit(func(e *states.Editor) {
			for _, set := range outputs {
				set(e)
			}
		})
	}
	checks := session.CheckResults(c.s.Config, c.settled(c.s.Eval.Checks()), c.plan.Checks)
	c.record.edit(func(e *states.Editor) { e.SetChecks(checks) })
}

// newOutputs returns the edits for root outputs, except outputs that depend on a failure. They are collected
// first and then made in one step: evaluating an output may take long, and a save in between would mix old
// and new outputs.
func (c *conclusion) newOutputs() []func(*states.Editor) {
	var out []func(*states.Editor)
	for _, planned := range c.plan.Outputs {
		remove := func(e *states.Editor) { e.RemoveOutput(planned.Name) }
		if planned.Action == plans.Delete {
			out = append(out, remove)
			continue
		}
		if c.failures.waits(addrs.Object{Kind: addrs.KindOutput, Name: planned.Name}) {
			continue
		}
		v, ds := c.s.Eval.Output(addrs.RootModuleInstance, planned.Name)
		if ds.HasErrors() {
			continue
		}
		plain := marks.Plain(v)
		if after := marks.Plain(planned.After); after.IsWhollyKnown() {
			plain = after // after was read from the plan file, which has no negative zero
		}
		if plain.IsNull() {
			out = append(out, remove)
			continue
		}
		// Values that are unknown because they are not part of this plan become null.
		x := states.Output{Value: schema.UnknownAsNull(plain), Sensitive: c.s.Config.Root.Outputs[planned.Name].Sensitive}
		out = append(out, func(e *states.Editor) { e.SetOutput(planned.Name, x) })
	}
	return out
}

// settled returns list with results of conditions from the plan, if the plan only refreshes. The apply of such
// a plan cannot change the results of resources, so settled adds the planned ones. The apply also does not read
// the data blocks in check blocks: a check that failed while planning stays failed.
func (c *conclusion) settled(list []eval.Checked) []eval.Checked {
	if c.plan.Mode != plans.RefreshOnlyMode {
		return list
	}
	failed := map[eval.Subject]eval.Checked{}
	for _, r := range c.plan.Checks {
		for _, o := range r.Objects {
			s := eval.Subject{Kind: r.Kind, Config: r.ConfigAddr, Object: o.Addr}
			planned := eval.Checked{Subject: s, Status: eval.Status(o.Status), Failures: o.Failures}
			switch {
			case r.Kind == "resource":
				list = append(list, planned)
			case r.Kind == eval.KindCheck && planned.Status == eval.Fail:
				failed[s] = planned
			}
		}
	}
	for i, now := range list {
		if planned, ok := failed[now.Subject]; ok && now.Status == eval.Pass {
			list[i] = planned
		}
	}
	return list
}

// skipCheck is [conclusion.skip] for check blocks. It also skips a check block if the apply did not get to
// reading the check's data source. A skipped check block has no results.
func (c *conclusion) skipCheck(o addrs.Object) bool {
	if o.Kind == addrs.KindCheck {
		if d := c.s.Config.Modules[o.Module].Checks[o.Name].Data; d != nil && c.unread[addrs.ConfigResource{Module: o.Module, Resource: d.Addr}] {
			return true
		}
	}
	return c.skip(o)
}

// kept returns the outputs that stay after a failed destroy: those that depend on nothing that is destroyed.
// If everything is destroyed, none stays.
func (c *conclusion) kept() map[string]bool {
	gone, failed := newFailures(c.failures.deps, c.failures.refs), false
	for _, x := range c.plan.Changes {
		if x.Action != plans.Delete {
			continue
		}
		if c.record.object(x.Addr) != nil {
			failed = true
			continue
		}
		gone.instance(x.Addr.Instance)
		gone.block(x.Addr.Instance.Config())
	}
	kept := map[string]bool{}
	if !failed {
		return kept
	}
	for _, o := range c.plan.Outputs {
		declared := c.s.Config.Root.Outputs[o.Name] != nil // otherwise its dependencies are unknown
		kept[o.Name] = len(gone.blocks) == 0 || declared && !gone.waits(addrs.Object{Kind: addrs.KindOutput, Name: o.Name})
	}
	return kept
}

// destroyed removes outputs, checks and data sources from the state. If objects could not be destroyed, valid
// outputs stay, and so do data sources that these objects depend on.
func (c *conclusion) destroyed() {
	kept := c.kept()
	checks := session.CheckResults(c.s.Config, nil, c.plan.Checks)
	c.record.edit(func(e *states.Editor) {
		for _, o := range c.plan.Outputs {
			if !kept[o.Name] {
				e.RemoveOutput(o.Name)
			}
		}
		e.SetChecks(checks)
		needed := neededData(e.Current())
		for _, x := range c.plan.ForgottenData(e.Current()) {
			if !needed[x.Config()] {
				e.RemoveInstance(x)
			}
		}
	})
}

// neededData returns the data sources that objects in the state depend on.
func neededData(st *states.State) map[addrs.ConfigResource]bool {
	needed := map[addrs.ConfigResource]bool{}
	seen := map[*states.Dependencies]bool{}
	for abs, r := range st.Resources() {
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
