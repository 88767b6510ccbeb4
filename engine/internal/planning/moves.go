package planning

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// moveInput is the input of [moveObjects]: a state to adjust to a configuration.
type moveInput struct {
	Config *config.Config
	// Was is the state as it was read; it determines the implied moves. Prior is the state in which objects are
	// moved.
	Was   *states.State
	Prior *states.Editor
	// Convert is called before each move. It converts the object, which is still at the address from in Prior,
	// to the type of the block at the address to. If Convert is nil, objects stay unchanged.
	Convert func(from, to addrs.AbsResourceInstance) diags.Diagnostics
}

// moveResult is the result of all moves.
type moveResult struct {
	// Origins maps the new address of each moved instance to its first address.
	Origins map[addrs.AbsResourceInstance]addrs.AbsResourceInstance
	// Unmoved is a warning about instances that did not move because the new address was occupied.
	Unmoved diags.Diagnostics
	// Cycle is the error about moves that form a cycle. Then no instance has moved.
	Cycle diags.Diagnostics
}

// moveObjects moves the objects of a state to the addresses that the configuration now has for them. It
// carries out stated and implied moves, and follows chains: with a -> b and b -> c, it moves a to b first. If
// the new address is occupied, the instance does not move. Errors come only from converting an object to
// another resource type.
func moveObjects(in moveInput) (*moveResult, diags.Diagnostics) {
	out := &moveResult{Origins: map[addrs.AbsResourceInstance]addrs.AbsResourceInstance{}}
	list := moveStatements(in.Config, in.Was)
	if len(list) == 0 {
		return out, nil
	}
	if list, out.Cycle = sortMoves(list); out.Cycle.HasErrors() {
		return out, nil
	}
	m := &mover{in: in, origins: out.Origins, known: map[addrs.ConfigResource][]addrs.AbsResource{}}
	for abs := range in.Prior.Current().Resources() {
		m.known[abs.Config()] = append(m.known[abs.Config()], abs)
	}
	var blocked []string
	var ds diags.Diagnostics
	for i := range list {
		more, problems := m.follow(&list[i])
		blocked, ds = append(blocked, more...), append(ds, problems...)
	}
	if len(blocked) > 0 {
		slices.Sort(blocked)
		out.Unmoved = diags.Warningf(nil, "Unresolved resource instance address changes",
			"Lockstep tried to adjust resource instance addresses in the prior state based on change information recorded in the configuration, but some adjustments did not succeed due to existing objects already at the intended addresses:\n  - %s\n\nLockstep has planned to destroy these objects. If this is not what you want, resolve the conflict first.", strings.Join(slices.Compact(blocked), "\n  - "))
	}
	return out, ds
}

// A mover carries out move statements one after the other.
type mover struct {
	in      moveInput
	origins map[addrs.AbsResourceInstance]addrs.AbsResourceInstance
	// known are the resources of the state, by block. It also keeps resources that earlier statements have
	// moved away.
	known map[addrs.ConfigResource][]addrs.AbsResource
}

// follow carries out one statement for every instance that it applies to. It returns the moves that were
// blocked, for the warning; it does not return blocked implied moves.
func (m *mover) follow(st *moveStatement) (blocked []string, ds diags.Diagnostics) {
	var free []instanceMove
	var empty [][2]addrs.AbsResource
	occupied := m.occupied(st)
	prior := m.in.Prior
	for _, abs := range m.candidates(st) {
		r := prior.Current().Resource(abs)
		if r == nil {
			continue
		}
		for _, x := range st.moves(abs, r) {
			if stays, by := occupied(x.from, x.to); by == "" {
				free = append(free, x)
			} else if !st.implied {
				blocked = append(blocked, fmt.Sprintf("%s could not move to %s", stays, by))
			}
		}
		if len(r.Instances) == 0 && st.anyKey() {
			for _, x := range st.moved(nil, abs.Instance(addrs.NoKey)) {
				empty = append(empty, [2]addrs.AbsResource{abs, x.to.AbsResource()})
			}
		}
	}
	for _, x := range empty { // resources without instances, left by a failure, move, too
		r := prior.Current().Resource(x[0])
		prior.RemoveResource(x[0])
		if prior.Current().Resource(x[1]) == nil {
			prior.SetProvider(x[1], r.Provider)
		}
	}
	slices.SortFunc(free, func(a, b instanceMove) int { return a.from.Compare(b.from) })
	for _, x := range free {
		ds = append(ds, m.move(x.from, x.to)...)
	}
	return blocked, ds
}

type instanceMove struct{ from, to addrs.AbsResourceInstance }

// moves returns how a statement moves the instances of a resource: one element for each instance that it moves.
func (st *moveStatement) moves(abs addrs.AbsResource, r *states.Resource) []instanceMove {
	if !st.anyKey() {
		if r.Instances[st.from.Key] == nil {
			return nil
		}
		return st.moved(nil, abs.Instance(st.from.Key))
	}
	var out []instanceMove
	for k := range r.Instances {
		out = st.moved(out, abs.Instance(k))
	}
	return out
}

// moved appends the move of an instance to list, if the statement moves the instance.
func (st *moveStatement) moved(list []instanceMove, from addrs.AbsResourceInstance) []instanceMove {
	if target, ok := st.target(from); ok && target != from {
		return append(list, instanceMove{from, target})
	}
	return list
}

// anyKey reports whether a statement applies to all instances of a resource.
func (st *moveStatement) anyKey() bool { return st.whole || st.from.IsModule() }

// move moves one instance, with its deposed objects.
func (m *mover) move(from, to addrs.AbsResourceInstance) (ds diags.Diagnostics) {
	if m.in.Convert != nil {
		ds = m.in.Convert(from, to)
	}
	prior := m.in.Prior
	if abs := to.AbsResource(); prior.Current().Resource(abs) == nil && !slices.Contains(m.known[abs.Config()], abs) {
		m.known[abs.Config()] = append(m.known[abs.Config()], abs)
	}
	prior.MoveInstance(from, to)
	origin := from
	if was, ok := m.origins[from]; ok {
		origin = was
		delete(m.origins, from)
	}
	if origin != to {
		m.origins[to] = origin
	}
	return ds
}

// occupied returns a function that reports whether an instance cannot move because its new address is occupied.
// If so, by is the occupied address, and stays is the address whose objects cannot move there. A statement for
// a whole resource or module moves all of it, or nothing if the state has anything at the new address. The
// state is read when occupied is called, before any instance moves.
// Source: Terraform 1.11.4.
func (m *mover) occupied(st *moveStatement) func(from, to addrs.AbsResourceInstance) (stays, by string) {
	state := m.in.Prior.Current
	switch {
	case st.from.IsModule():
		present := map[addrs.ModuleInstance]bool{}
		within := st.block(st.to).Module
		for cr, list := range m.known {
			if !within.Contains(cr.Module) {
				continue
			}
			for _, abs := range list {
				present[abs.Module] = present[abs.Module] || state().Resource(abs) != nil
			}
		}
		return func(from, to addrs.AbsResourceInstance) (stays, by string) {
			if present[to.Module] {
				return from.Module.String(), to.Module.String()
			}
			return "", ""
		}
	case st.whole:
		return func(from, to addrs.AbsResourceInstance) (stays, by string) {
			if abs := to.AbsResource(); state().Resource(abs) != nil {
				return from.AbsResource().String(), abs.String()
			}
			return "", ""
		}
	}
	return func(from, to addrs.AbsResourceInstance) (stays, by string) {
		if state().Instance(to) != nil {
			return from.String(), to.String()
		}
		return "", ""
	}
}

// candidates returns the resources that a statement may apply to.
func (m *mover) candidates(st *moveStatement) []addrs.AbsResource {
	from := st.block(st.from)
	switch {
	case st.from.IsModule():
	case st.implied || st.module.IsRoot(): // the endpoints are absolute addresses
		return []addrs.AbsResource{{Module: st.from.Module, Resource: st.from.Resource}}
	default:
		return m.known[from]
	}
	var out []addrs.AbsResource
	for cr, list := range m.known {
		if from.Module.Contains(cr.Module) {
			out = append(out, list...)
		}
	}
	return out
}
