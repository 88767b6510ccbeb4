package planning

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A misspelt address in -replace, -target or -exclude is an easy mistake. Without a warning, the plan would
// look as if the request had been carried out. An address that names anything in the configuration or in the
// state counts as correct.

// unmatched returns diagnostics for option addresses that match nothing. Each diagnostic has the
// [diags.Cause] Unmatched.
func (p *planner) unmatched() diags.Diagnostics {
	ds := replaceWarnings(p.in.ForceReplace, p.instances)
	for i := range ds {
		ds[i].Extra = diags.Cause{Unmatched: true}
	}
	for _, a := range p.in.ForceReplace {
		_, expanded := p.instances.Resources[a.AbsResource()]
		t := addrs.Target{Module: a.Module, Resource: a.Resource.Resource, Key: a.Resource.Key}
		if !(expanded && a.Resource.Key.IsNone()) && !p.matches(t) { // otherwise replaceWarnings reports it
			ds = append(ds, p.nothing("-replace", t)...)
		}
	}
	for _, t := range p.in.Targets {
		if !p.matches(t) {
			ds = append(ds, p.nothing("-target", t)...)
		}
	}
	for _, t := range p.in.Excludes {
		if !slices.Contains(p.in.Waiting, t) && !p.matches(t) {
			ds = append(ds, p.nothing("-exclude", t)...)
		}
	}
	return ds
}

// matches reports whether an address names anything in the state, before or after moves, or in the
// configuration.
func (p *planner) matches(t addrs.Target) bool {
	return inState(p.in.State, t) || inState(p.prior.State(), t) || p.expandsTo(t) || p.inConfig(t)
}

func inState(s *states.State, t addrs.Target) bool {
	for abs, r := range s.Resources() {
		for key := range r.Instances {
			if t.Contains(abs.Instance(key)) {
				return true
			}
		}
	}
	return false
}

// expandsTo reports whether a block that the plan has expanded has instances with this address. A resource
// address without a key matches even if the block has no instances.
func (p *planner) expandsTo(t addrs.Target) bool {
	for abs, keys := range p.instances.Resources {
		if t.Key.IsNone() && !t.IsModule() && t.Module == abs.Module && t.Resource == abs.Resource ||
			slices.ContainsFunc(keys, func(k addrs.InstanceKey) bool { return t.Contains(abs.Instance(k)) }) {
			return true
		}
	}
	return false
}

// inConfig reports whether an address may belong to a block that the plan has not expanded because it leaves
// the block out. Any key matches. A module without resources exists, but has nothing to match.
func (p *planner) inConfig(t addrs.Target) bool {
	expanded := map[addrs.ConfigResource]bool{}
	for abs := range p.instances.Resources {
		expanded[abs.Config()] = true
	}
	blocks := 0
	for _, m := range p.in.Config.Order {
		if !reaches(t, m.Addr) {
			continue
		}
		for r := range m.Resources {
			if !t.IsModule() && t.Resource != r {
				continue
			}
			if blocks++; !expanded[addrs.ConfigResource{Module: m.Addr, Resource: r}] {
				return true
			}
		}
	}
	return blocks == 0 && t.IsModule() && p.in.Config.Modules[t.Module.Module()] != nil
}

// reaches reports whether the target t can select blocks of the module m: t names something in m, or t is a
// module that is m or contains m.
func reaches(t addrs.Target, m addrs.Module) bool {
	if t.IsModule() {
		return t.Module.Module().Contains(m)
	}
	return t.Module.Module() == m
}

// maxNamed is the largest number of instances that a message names.
const maxNamed = 10

// nothing returns the warning about an address that matches nothing. It names the instances that may be
// meant, or the nearest address of the configuration and the state.
func (p *planner) nothing(option string, t addrs.Target) diags.Diagnostics {
	meant := map[string]bool{}
	for abs, keys := range p.instances.Resources {
		if t.IsModule() || abs.Resource != t.Resource || abs.Module.Module() != t.Module.Module() {
			continue
		}
		for _, k := range keys {
			meant[abs.Instance(k).String()] = true
		}
	}
	remedy := cmp.Or(strings.TrimSpace(diags.Suggest(t.String(), maps.Keys(p.addresses(t.IsModule())))), "Check the address for a typing error.")
	if names := slices.Sorted(maps.Keys(meant)); len(names) > 0 {
		more := ""
		if len(names) > maxNamed {
			names, more = names[:maxNamed], fmt.Sprintf("\n  and %d more", len(names)-maxNamed)
		}
		remedy = fmt.Sprintf("Use the address of one of these instances:\n  - %s%s", strings.Join(names, "\n  - "), more)
	}
	ds := diags.Warningf(nil, "Address matches nothing",
		"The option %s=%s matches nothing in the configuration or the state, so it selects nothing. %s", option, t, remedy)
	ds[0].Extra = diags.Cause{Unmatched: true, Advice: true}
	return ds
}

// addresses returns the addresses of all modules, or of all resources, in the configuration and in the state.
func (p *planner) addresses(modules bool) map[string]bool {
	all := map[string]bool{}
	for _, m := range p.in.Config.Order {
		if modules {
			all[m.Addr.String()] = true
			continue
		}
		for r := range m.Resources {
			all[addrs.ConfigResource{Module: m.Addr, Resource: r}.String()] = true
		}
	}
	for abs := range p.in.State.Resources() {
		if !modules {
			all[abs.String()] = true
		} else if !abs.Module.IsRoot() {
			all[abs.Module.String()] = true
		}
	}
	delete(all, "") // the root module
	return all
}

// replaceWarnings returns warnings for -replace with a whole resource, although only instances can be
// replaced. Forgetting the key is an easy mistake. Source: Terraform 1.11.4.
func replaceWarnings(requested []addrs.AbsResourceInstance, expanded plans.Instances) diags.Diagnostics {
	var ds diags.Diagnostics
	for _, a := range requested {
		keys, ok := expanded.Resources[a.AbsResource()]
		if !ok || slices.Contains(keys, a.Resource.Key) || !a.Resource.Key.IsNone() {
			continue
		}
		if len(keys) == 0 {
			ds = append(ds, diags.Warningf(nil, "Incompletely-matched force-replace resource instance",
				"Your force-replace request for %s doesn't match any resource instance, because the resource has none now.", a)...)
			continue
		}
		var names []string
		for _, k := range keys {
			names = append(names, a.AbsResource().Instance(k).String())
		}
		ds = append(ds, diags.Warningf(nil, "Incompletely-matched force-replace resource instance",
			"Your force-replace request for %s doesn't match any resource instance, because there are these instances of the resource:\n  - %s\n\nUse their full addresses.", a, strings.Join(names, "\n  - "))...)
	}
	return ds
}
