package planning

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A moveStatement says that objects have a new address. It is a moved block of a module, and applies in all
// instances of that module. Or it is implied: when a block gets or loses count, or replaces count with
// enabled.
type moveStatement struct {
	module   addrs.Module // module of the moved block; the endpoints are relative to it
	from, to addrs.Target
	whole    bool // all instances, each keeping its key
	implied  bool // the statement is implied: absolute endpoints, module is the root module
	rng      *hcl.Range
}

// moveStatements collects stated and implied moves: stated ones in the order of the configuration, then
// implied ones by address. If a moved block names a resource, nothing is implied about it.
func moveStatements(cfg *config.Config, state *states.State) []moveStatement {
	var list []moveStatement
	named := map[addrs.ConfigResource]bool{}
	for _, m := range cfg.Order {
		for _, b := range m.Moved {
			st := statedMove(m, b)
			for _, t := range []addrs.Target{b.From, b.To} {
				if !t.IsModule() {
					named[st.block(t)] = true
				}
			}
			list = append(list, st)
		}
	}
	n := len(list)
	list = append(list, impliedByCount(cfg, state, named)...)
	list = append(list, impliedByEnabled(cfg, state)...)
	slices.SortStableFunc(list[n:], func(a, b moveStatement) int { return strings.Compare(a.from.String(), b.from.String()) })
	return list
}

// statedMove returns the statement of a moved block.
func statedMove(m *config.Module, b *config.Moved) moveStatement {
	return moveStatement{module: m.Addr, from: b.From, to: b.To, rng: b.Range.Ptr(), whole: keyless(b.From) && keyless(b.To)}
}

// impliedByCount returns the moves of resources whose block got count (from no key to 0) or lost it (from 0
// to no key). A block without count may have enabled.
func impliedByCount(cfg *config.Config, state *states.State, named map[addrs.ConfigResource]bool) []moveStatement {
	var list []moveStatement
	for abs, res := range state.Resources() {
		m := cfg.Modules[abs.Module.Module()]
		if m == nil || abs.Resource.Mode != addrs.Managed || named[abs.Config()] {
			continue
		}
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
		list = append(list, moveStatement{
			from: addrs.Target{Module: abs.Module, Resource: abs.Resource, Key: from},
			to:   addrs.Target{Module: abs.Module, Resource: abs.Resource, Key: to}, implied: true,
		})
	}
	return list
}

// impliedByEnabled returns the moves of module instances whose call has enabled and previously had count:
// from key 0 to no key. If a moved block names the call, nothing is implied.
func impliedByEnabled(cfg *config.Config, state *states.State) []moveStatement {
	stored := map[addrs.ModuleInstance]bool{}
	for abs := range state.Resources() {
		for in := abs.Module; !in.IsRoot() && !stored[in]; in = in.Parent() {
			stored[in] = true
		}
	}
	var out []moveStatement
	for _, in := range slices.SortedFunc(maps.Keys(stored), addrs.ModuleInstance.Compare) {
		parent, name, key := in.Call()
		m := cfg.Modules[in.Module()]
		to := parent.Child(name, addrs.NoKey)
		if m == nil || m.Call.Enabled == nil || key != addrs.IntKey(0) || stored[to] || movesCall(m.Parent, name) {
			continue
		}
		out = append(out, moveStatement{from: addrs.Target{Module: in}, to: addrs.Target{Module: to}, implied: true})
	}
	return out
}

// movesCall reports whether a moved block of module m names the module call with this name.
func movesCall(m *config.Module, name string) bool {
	names := func(t addrs.Target) bool { return t.IsModule() && t.Module.Module() == addrs.NewModule(name) }
	return slices.ContainsFunc(m.Moved, func(b *config.Moved) bool { return names(b.From) || names(b.To) })
}

// keyless reports whether an endpoint has no instance key at its end.
func keyless(t addrs.Target) bool {
	if !t.IsModule() {
		return t.Key.IsNone()
	}
	_, _, key := t.Module.Call()
	return key.IsNone()
}

// block returns the configuration address of an endpoint. For a module, the result has no resource.
func (st *moveStatement) block(t addrs.Target) addrs.ConfigResource {
	mod := st.module
	for _, s := range t.Module.Steps() {
		mod = mod.Child(s.Name)
	}
	return addrs.ConfigResource{Module: mod, Resource: t.Resource}
}

// target returns the address to which a statement moves an instance. The boolean is false if the statement
// does not apply to the instance.
func (st *moveStatement) target(a addrs.AbsResourceInstance) (addrs.AbsResourceInstance, bool) {
	base, rest, ok := st.relative(a.Module)
	if !ok {
		return a, false
	}
	if st.from.IsModule() {
		steps, ok := st.moduleTarget(rest)
		if ok {
			a.Module = descend(base, steps)
		}
		return a, ok
	}
	if !slices.Equal(rest, st.from.Module.Steps()) || a.Resource.Resource != st.from.Resource || a.Resource.Key != st.from.Key && !st.whole {
		return a, false
	}
	a.Module = descend(base, st.to.Module.Steps())
	a.Resource.Resource = st.to.Resource
	if !st.whole {
		a.Resource.Key = st.to.Key
	}
	return a, true
}

// moduleTarget applies a statement to the path of a module instance, and returns the new path. The result is
// false if the statement does not move this module instance. A statement for a whole call keeps the key of the
// call's instance.
func (st *moveStatement) moduleTarget(steps []addrs.ModuleInstanceStep) ([]addrs.ModuleInstanceStep, bool) {
	from := st.from.Module.Steps()
	n := len(from)
	if len(steps) < n || !slices.Equal(steps[:n-1], from[:n-1]) {
		return nil, false
	}
	was, want := steps[n-1], from[n-1]
	if was.Name != want.Name || was.Key != want.Key && !st.whole {
		return nil, false
	}
	to := st.to.Module.Steps()
	if st.whole {
		to[len(to)-1].Key = was.Key
	}
	return append(to, steps[n:]...), true
}

func descend(m addrs.ModuleInstance, steps []addrs.ModuleInstanceStep) addrs.ModuleInstance {
	for _, s := range steps {
		m = m.Child(s.Name, s.Key)
	}
	return m
}

// relative splits a module address into the instance of the statement's module and the remaining steps. ok is
// false if the address is outside the statement's module.
func (st *moveStatement) relative(in addrs.ModuleInstance) (base addrs.ModuleInstance, rest []addrs.ModuleInstanceStep, ok bool) {
	steps := in.Steps()
	depth := st.module.Depth()
	if len(steps) < depth {
		return base, nil, false
	}
	for _, s := range steps[:depth] {
		base = base.Child(s.Name, s.Key)
	}
	return base, steps[depth:], base.Module() == st.module
}
