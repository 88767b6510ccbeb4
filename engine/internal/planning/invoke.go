package planning

import (
	"context"
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/refs"
)

// The option -invoke invokes one action, or all instances of one action, and changes nothing else. The plan
// only refreshes the resources that the action refers to. An action may refer to its caller, the resource
// instance that triggers the action. Such an action is invoked once for each instance that the state has of
// each triggering resource. Source: Terraform 1.16.

// invokedBlock returns the action block that the option -invoke names, and its module. The block is nil if
// there is none.
func (p *planner) invokedBlock() (*config.Module, *config.Resource) {
	m := p.in.Config.Modules[p.in.Invoke.Module.Module()]
	if m == nil {
		return nil, nil
	}
	return m, m.Actions[p.in.Invoke.Resource.Resource]
}

// invocable returns an error if the option -invoke names an action that does not exist.
func (p *planner) invocable() diags.Diagnostics {
	if p.in.Invoke == (addrs.AbsResourceInstance{}) {
		return nil
	}
	m, r := p.invokedBlock()
	if r != nil {
		return nil
	}
	suggestion := ""
	if m != nil {
		suggestion = diags.Suggest(p.in.Invoke.Resource.Resource.String(), func(yield func(string) bool) {
			for a := range m.Actions {
				if !yield(a.String()) {
					return
				}
			}
		})
	}
	return p.notInvocable("The configuration has no such action. Check the address of the option -invoke." + suggestion)
}

func (p *planner) notInvocable(detail string) diags.Diagnostics {
	return diags.Errorf(nil, "invoke target "+p.in.Invoke.String()+" not found", "%s", detail)
}

// selectInvoked returns the part of the configuration to plan for the option -invoke: the objects that the
// action refers to, and the resources that trigger the action.
func (p *planner) selectInvoked(in targetInput) *targetSelection {
	t := &targeted{named: map[addrs.ConfigResource]bool{}, needed: map[addrs.ConfigResource]bool{}}
	c := &targetClosure{in: &in, objects: map[addrs.Object]bool{}, needed: t.needed}
	m, r := p.invokedBlock()
	c.add(addrs.Object{Module: m.Addr, Kind: addrs.KindAction, Res: r.Addr})
	for _, caller := range p.callers(m, r) {
		c.addAll([]addrs.Object{{Module: m.Addr, Kind: addrs.KindResource, Res: caller}})
	}
	return &targetSelection{objects: c.objects, instances: t}
}

// callers returns the resources that trigger an action. It returns none if the configuration of the action does
// not refer to its caller, because then it does not matter which resource triggers it.
func (p *planner) callers(m *config.Module, action *config.Resource) []addrs.Resource {
	if !p.in.Refs.UsesCaller(action) {
		return nil
	}
	var out []addrs.Resource
	for _, r := range slices.SortedFunc(maps.Keys(m.Resources), addrs.Resource.Compare) {
		if slices.ContainsFunc(m.Resources[r].Triggers, func(t *config.Trigger) bool { return refs.Names(t, action.Addr) }) {
			out = append(out, r)
		}
	}
	return out
}

// invoked returns the invocations of the option -invoke.
func (p *planner) invoked(ctx context.Context) []*invoking {
	m, r := p.invokedBlock()
	at := p.in.Invoke.AbsResource()
	if !p.moduleExists(at.Module) {
		p.report(p.notInvocable("The module calls of the configuration make no instance " + at.Module.String() + ". Check the address of the option -invoke."))
		return nil
	}
	instances, ds := p.s.Eval.ResourceInstances(at.Module, r)
	if p.report(ds); ds.HasErrors() {
		return nil
	}
	var out []*invoking
	for i := range instances {
		if key := p.in.Invoke.Resource.Key; key.IsNone() || key == instances[i].Key {
			out = append(out, &invoking{Invocation: &plans.Invocation{Addr: at.Instance(instances[i].Key)}})
		}
	}
	if len(out) == 0 {
		p.report(p.notInvocable("Its count or for_each makes no such instance. Check the address of the option -invoke."))
	}
	if callers := p.callers(m, r); len(callers) > 0 {
		return p.forCallers(ctx, m, callers, out)
	}
	return out
}

// forCallers returns a copy of each invocation in list for each instance that the state has of the resources in
// callers.
func (p *planner) forCallers(ctx context.Context, m *config.Module, callers []addrs.Resource, list []*invoking) []*invoking {
	var out []*invoking
	for _, caller := range callers {
		abs := addrs.AbsResource{Module: p.in.Invoke.Module, Resource: caller}
		found := 0
		for _, a := range p.prior.Instances(abs) {
			o := p.prior.Object(addrs.ResourceInstanceObject{Instance: a})
			if o == nil {
				continue
			}
			found++
			rs, _, ds := p.s.Schema(ctx, m.ResourceProvider(m.Resources[caller]).Provider, caller, nil)
			if p.report(ds); ds.HasErrors() {
				return nil
			}
			v, ds := p.s.Stored(a, rs, o)
			if p.report(ds); ds.HasErrors() {
				return nil
			}
			for _, x := range list {
				out = append(out, &invoking{Invocation: &plans.Invocation{Addr: x.Addr, Caller: a}, caller: v})
			}
		}
		if found == 0 {
			p.report(diags.Errorf(m.Resources[caller].Range.Ptr(), "Partially applied configuration",
				"%s refers to its caller, and the state has no instance of %s, which triggers it. Plan and apply the configuration first, then invoke the action.", p.in.Invoke, abs))
		}
	}
	return out
}
