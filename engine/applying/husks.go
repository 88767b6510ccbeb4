package applying

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// husks leaves resources without instances in the state, as Terraform 1.11.4 does if an
// apply fails: those that are to have none (count = 0), and those that could not be made,
// but for what a provider was asked to create; and data that could not be read.
// What depends on a failure was not even tried, and is left out. If all went well, there
// are none; an earlier failure's go.
func (a *applier) husks() {
	if a.until.Err() != nil {
		return // whose turn came is not known
	}
	evaluated := append(a.s.Diagnostics(), a.s.Eval.Diagnostics()...).HasErrors()
	a.mu.Lock()
	defer a.mu.Unlock()
	if !evaluated && !a.found.HasErrors() {
		a.state.RemoveEmpty()
		return
	}
	if a.in.Plan.Mode == plans.DestroyMode {
		return
	}
	a.unread()
	for abs := range a.in.Plan.Instances.Resources {
		// One that lost its instances now goes or stays by chance.
		was := a.in.Plan.PriorState.Resource(abs) != nil || a.state.Current().Resource(abs) != nil
		cr := abs.Config()
		if abs.Resource.Mode == addrs.Managed && !was && !a.noHusk[abs] && !a.blocked(cr) {
			m := a.in.Config.Modules[cr.Module]
			a.state.SetProvider(abs, m.ResourceProvider(m.Resources[cr.Resource]))
		}
	}
}

// unread leaves resources without instances for data that could not be read. Those whose turn
// did not come are left out.
func (a *applier) unread() {
	for _, c := range a.in.Plan.Changes {
		abs := c.Addr.Instance.AbsResource()
		if c.Action == plans.Read && a.state.Current().Resource(abs) == nil && !a.blocked(abs.Config()) {
			a.state.SetProvider(abs, c.Provider)
		}
	}
}

// leaveNoHusk notes that a provider was asked to create an object of a resource and that
// nothing came of it, or that it was not its turn yet.
func (a *applier) leaveNoHusk(abs addrs.AbsResource) {
	a.mu.Lock()
	a.noHusk[abs] = true
	a.mu.Unlock()
}

// An aftermath knows what comes of failures, once the walk is over.
type aftermath struct {
	unmade  int // how many resources were not made when this was found out
	blocked map[addrs.ConfigResource]bool
	failed  map[addrs.ConfigResource][]map[addrs.InstanceKey]bool // instances, by module instance
}

// after returns what is known of failures so far: the answers hold until something else fails.
func (a *applier) after() *aftermath {
	if a.aftermath == nil || a.aftermath.unmade != len(a.unmade) {
		a.aftermath = &aftermath{len(a.unmade), map[addrs.ConfigResource]bool{}, map[addrs.ConfigResource][]map[addrs.InstanceKey]bool{}}
		for abs, keys := range a.failed {
			cr := abs.Config()
			a.aftermath.failed[cr] = append(a.aftermath.failed[cr], keys)
		}
	}
	return a.aftermath
}

// blocked reports whether a block depends on one that was not made.
func (a *applier) blocked(cr addrs.ConfigResource) bool {
	known := a.after().blocked
	if is, ok := known[cr]; ok {
		return is
	}
	known[cr] = false // a resource that mentions itself
	known[cr] = a.waits(addrs.Object{Module: cr.Module, Kind: addrs.KindResource, Res: cr.Resource})
	return known[cr]
}

// waits reports whether something was not made that an object depends on, if only by a
// depends_on of a module that it is in. It is for when the walk is over.
func (a *applier) waits(o addrs.Object) bool {
	if len(a.unmade) == 0 {
		return false
	}
	only := a.in.Refs.OnlyInstances(o)
	for _, d := range a.deps.Of(o) {
		keys := only[addrs.Object{Module: d.Module, Kind: addrs.KindResource, Res: d.Resource}]
		if len(keys) > 0 && a.failedOne(d, keys) || len(keys) == 0 && (a.unmade[d] || a.blocked(d)) {
			return true
		}
	}
	return false
}

// failedOne reports whether one of some instances of a block failed.
func (a *applier) failedOne(cr addrs.ConfigResource, keys []addrs.InstanceKey) bool {
	return slices.ContainsFunc(a.after().failed[cr], func(failed map[addrs.InstanceKey]bool) bool {
		return slices.ContainsFunc(keys, func(k addrs.InstanceKey) bool { return failed[k] })
	})
}
