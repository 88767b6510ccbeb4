package planning

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// A move is one statement that objects have another address than they had: a moved
// block in one module, or one that follows from count being added or taken away, or from
// enabled taking its place.
type move struct {
	module   addrs.Module // where it is written; its endpoints are relative to that
	from, to addrs.Target
	whole    bool // all instances, each keeping its key
	implied  bool
	place    *hcl.Range
}

// moves gives instances of the state the addresses that the configuration has for
// them now. Statements are followed in the order of their chains, so that of a -> b
// and b -> c the first comes first; of statements in a circle, none is. Where the new
// address is taken already, nothing moves, and a warning says so. The errors are those of
// providers that were asked to make objects of one type those of another.
func (p *planner) moves(ctx context.Context) diags.Diagnostics {
	list := p.moveStatements()
	if len(list) == 0 {
		return nil
	}
	if list, p.circle = sortMoves(list); p.circle.HasErrors() {
		return nil
	}
	var blocked []string
	var ds diags.Diagnostics
	stored := map[addrs.ConfigResource][]addrs.AbsResource{}
	for abs := range p.prior.Current().Resources() {
		stored[abs.Config()] = append(stored[abs.Config()], abs)
	}
	for _, m := range list {
		more, problems := p.follow(ctx, m, stored)
		blocked, ds = append(blocked, more...), append(ds, problems...)
	}
	if len(blocked) > 0 {
		slices.Sort(blocked)
		p.unmoved = diags.Warningf(nil, "Unresolved resource instance address changes",
			"Lockstep tried to adjust resource instance addresses in the prior state based on change information recorded in the configuration, but some adjustments did not succeed due to existing objects already at the intended addresses:\n  - %s\n\nLockstep has planned to destroy these objects. If this is not what you want, resolve the conflict first.", strings.Join(slices.Compact(blocked), "\n  - "))
	}
	return ds
}

// moveStatements collects written and implied moves.
func (p *planner) moveStatements() []move {
	var list []move
	seen := map[addrs.AbsResource]bool{}
	stated := map[addrs.ConfigResource]bool{} // where instances come from or go to: nothing is implied about these
	for _, m := range p.in.Config.Order {
		for _, b := range m.Moved {
			for _, t := range []addrs.Target{b.From, b.To} {
				if !t.IsModule() {
					stated[(&move{module: m.Addr}).static(t)] = true
				}
			}
			list = append(list, move{
				module: m.Addr, from: b.From, to: b.To, place: b.Range.Ptr(),
				whole: wholeBlock(b.From) && wholeBlock(b.To),
			})
		}
	}
	written := len(list)
	for abs, res := range p.in.State.Resources() {
		m := p.in.Config.Modules[abs.Module.Module()]
		if m == nil || abs.Resource.Mode != addrs.Managed || seen[abs] || stated[abs.Config()] {
			continue
		}
		seen[abs] = true
		r := m.Resources[abs.Resource]
		if r == nil || r.ForEach != nil {
			continue
		}
		from, to := addrs.NoKey, addrs.IntKey(0)
		if r.Count == nil {
			from, to = to, from
		}
		if res.Instances[from] == nil || res.Instances[to] != nil {
			continue
		}
		list = append(list, move{
			from: addrs.Target{Module: abs.Module, Resource: abs.Resource, Key: from},
			to:   addrs.Target{Module: abs.Module, Resource: abs.Resource, Key: to}, implied: true,
		})
	}
	list = append(list, p.enabledCalls()...)
	slices.SortStableFunc(list[written:], func(a, b move) int { return strings.Compare(a.from.String(), b.from.String()) })
	return list
}

// enabledCalls returns that the first instance of a module call that has enabled, where it
// had count before, is its only one now. Nothing is moved if a moved block names the call.
func (p *planner) enabledCalls() []move {
	seen := map[addrs.ModuleInstance]bool{}
	for abs := range p.in.State.Resources() {
		for in := abs.Module; !in.IsRoot() && !seen[in]; in = in.Parent() {
			seen[in] = true
		}
	}
	var out []move
	for _, in := range slices.SortedFunc(maps.Keys(seen), addrs.ModuleInstance.Compare) {
		parent, name, key := in.Call()
		m := p.in.Config.Modules[in.Module()]
		to := parent.Child(name, addrs.NoKey)
		if m == nil || m.Call.Enabled == nil || key != addrs.IntKey(0) || seen[to] || movesCall(m.Parent, name) {
			continue
		}
		out = append(out, move{from: addrs.Target{Module: in}, to: addrs.Target{Module: to}, implied: true})
	}
	return out
}

// movesCall reports whether a moved block of a module names one of its calls.
func movesCall(m *config.Module, name string) bool {
	means := func(t addrs.Target) bool { return t.IsModule() && t.Module.Module() == addrs.NewModule(name) }
	return slices.ContainsFunc(m.Moved, func(b *config.Moved) bool { return means(b.From) || means(b.To) })
}

// wholeBlock reports whether a target names no instance at its end.
func wholeBlock(t addrs.Target) bool {
	if !t.IsModule() {
		return t.Key.IsNone()
	}
	_, _, key := t.Module.Call()
	return key.IsNone()
}

// static returns the configuration address of an endpoint; that of a module has no resource.
func (m *move) static(t addrs.Target) addrs.ConfigResource {
	mod := m.module
	for _, s := range t.Module.Steps() {
		mod = mod.Child(s.Name)
	}
	return addrs.ConfigResource{Module: mod, Resource: t.Resource}
}

// follow carries out one statement on every instance that it means. It returns what
// could not be moved, for the warning. stored are the resources of the state by their blocks,
// those among them that have moved away since; it notes those that are new.
func (p *planner) follow(ctx context.Context, m move, stored map[addrs.ConfigResource][]addrs.AbsResource) (blocked []string, ds diags.Diagnostics) {
	type pair struct{ from, to addrs.AbsResourceInstance }
	var pairs []pair
	var empty []addrs.AbsResource
	taken := p.taken(&m, stored)
	for _, abs := range m.among(stored) {
		r := p.prior.Current().Resource(abs)
		if r == nil {
			continue
		}
		consider := func(k addrs.InstanceKey) {
			from := abs.Instance(k)
			to, ok := m.target(from)
			if !ok || to == from {
				return
			}
			if old, is := taken(from, to); is == "" {
				pairs = append(pairs, pair{from, to})
			} else if !m.implied {
				blocked = append(blocked, fmt.Sprintf("%s could not move to %s", old, is))
			}
		}
		switch {
		case m.whole || m.from.IsModule():
			for k := range r.Instances {
				consider(k)
			}
		case r.Instances[m.from.Key] != nil:
			consider(m.from.Key)
		}
		if from := abs.Instance(addrs.NoKey); len(r.Instances) == 0 && (m.whole || m.from.IsModule()) {
			if to, ok := m.target(from); ok && to != from {
				empty = append(empty, abs)
			}
		}
	}
	for _, abs := range empty {
		p.prior.RemoveResource(abs) // nothing of it is left behind
	}
	slices.SortFunc(pairs, func(a, b pair) int { return a.from.Compare(b.from) })
	for _, x := range pairs {
		ds = append(ds, p.convert(ctx, x.from, x.to)...)
		if to := x.to.AbsResource(); p.prior.Current().Resource(to) == nil && !slices.Contains(stored[to.Config()], to) {
			stored[to.Config()] = append(stored[to.Config()], to)
		}
		p.prior.MoveInstance(x.from, x.to)
		origin := x.from
		if was, ok := p.movedFrom[x.from]; ok {
			origin = was
			delete(p.movedFrom, x.from)
		}
		if origin != x.to {
			p.movedFrom[x.to] = origin
		}
	}
	return blocked, ds
}

// taken returns what says whether there is something already where a statement moves an
// instance, and then what does not move there. Source: Terraform 1.11.4 moves a module as a
// whole, or not at all if the state has anything of one at the new address; and so for
// resources.
func (p *planner) taken(m *move, stored map[addrs.ConfigResource][]addrs.AbsResource) func(from, to addrs.AbsResourceInstance) (old, is string) {
	switch {
	case m.from.IsModule():
		there := map[addrs.ModuleInstance]bool{}
		within := m.static(m.to).Module
		for cr, list := range stored {
			if !within.Contains(cr.Module) {
				continue
			}
			for _, abs := range list {
				there[abs.Module] = there[abs.Module] || p.prior.Current().Resource(abs) != nil
			}
		}
		return func(from, to addrs.AbsResourceInstance) (old, is string) {
			if there[to.Module] {
				return from.Module.String(), to.Module.String()
			}
			return "", ""
		}
	case m.whole:
		return func(from, to addrs.AbsResourceInstance) (old, is string) {
			if abs := to.AbsResource(); p.prior.Current().Resource(abs) != nil {
				return from.AbsResource().String(), abs.String()
			}
			return "", ""
		}
	}
	return func(from, to addrs.AbsResourceInstance) (old, is string) {
		if p.prior.Current().Instance(to) != nil {
			return from.String(), to.String()
		}
		return "", ""
	}
}

// among returns the resources that a statement may mean.
func (m *move) among(stored map[addrs.ConfigResource][]addrs.AbsResource) []addrs.AbsResource {
	from := m.static(m.from)
	switch {
	case m.from.IsModule():
	case m.implied || m.module.IsRoot(): // there are no instances of the statement's module
		return []addrs.AbsResource{{Module: m.from.Module, Resource: m.from.Resource}}
	default:
		return stored[from]
	}
	var out []addrs.AbsResource
	for cr, list := range stored {
		if from.Module.Contains(cr.Module) {
			out = append(out, list...)
		}
	}
	return out
}

// target returns where a statement moves an instance, if it means it.
func (m *move) target(a addrs.AbsResourceInstance) (addrs.AbsResourceInstance, bool) {
	steps := a.Module.Steps()
	depth := m.module.Depth()
	if m.implied {
		depth = 0
	}
	if len(steps) < depth {
		return a, false
	}
	base := addrs.RootModuleInstance
	at := addrs.RootModule
	for _, s := range steps[:depth] {
		base, at = base.Child(s.Name, s.Key), at.Child(s.Name)
	}
	if at != m.module && !m.implied {
		return a, false
	}
	rest, want := steps[depth:], m.from.Module.Steps()
	if len(rest) < len(want) || !m.from.IsModule() && len(rest) != len(want) {
		return a, false
	}
	var kept addrs.InstanceKey
	for i, w := range want {
		last := m.from.IsModule() && i == len(want)-1
		if rest[i].Name != w.Name || rest[i].Key != w.Key && !(last && m.whole) {
			return a, false
		}
		kept = rest[i].Key
	}
	out := a
	out.Module = base
	to := m.to.Module.Steps()
	for i, s := range to {
		key := s.Key
		if m.to.IsModule() && i == len(to)-1 && m.whole {
			key = kept
		}
		out.Module = out.Module.Child(s.Name, key)
	}
	if m.from.IsModule() {
		for _, s := range rest[len(want):] {
			out.Module = out.Module.Child(s.Name, s.Key)
		}
		return out, true
	}
	if a.Resource.Resource != m.from.Resource || a.Resource.Key != m.from.Key && !m.whole {
		return a, false
	}
	out.Resource.Resource = m.to.Resource
	if !m.whole {
		out.Resource.Key = m.to.Key
	}
	return out, true
}
