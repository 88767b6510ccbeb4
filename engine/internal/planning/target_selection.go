package planning

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/internal/dependencies"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// targetOptions are the options that select part of a configuration. At most one of the lists has elements.
// If all are empty, everything is selected.
type targetOptions struct {
	// Targets are planned with their dependencies, and nothing else.
	Targets []addrs.Target
	// Excludes are not planned, nor is anything that depends on them. Everything else is planned.
	Excludes []addrs.Target
	// Waiting are the Excludes that no option named: see [plans.Plan.Waiting].
	Waiting []addrs.Target
}

// targetInput is everything that a selection depends on.
type targetInput struct {
	targetOptions
	Config *config.Config
	Refs   *refs.Refs
	Deps   *dependencies.Graph
	// Was is the state as it was read, with the stored dependencies. Prior is the state after moves.
	Was, Prior *states.State
}

// A targetSelection is the part of a configuration and a state that a plan covers. The nil selection is
// everything. Immutable.
type targetSelection struct {
	objects   map[addrs.Object]bool // blocks, values and calls
	instances targetInstances
}

// targetInstances is a set of resource instances.
type targetInstances interface {
	has(addrs.AbsResourceInstance) bool
	names(addrs.AbsResourceInstance) bool
}

// selectTargets returns the part to plan.
func selectTargets(in targetInput) *targetSelection {
	switch {
	case len(in.Targets) > 0:
		return in.selectTargets()
	case len(in.Excludes) > 0:
		return in.selectUnexcluded()
	}
	return nil
}

// selectDestroyed returns the part to destroy in a plan that destroys. It contains only resources.
func selectDestroyed(in targetInput) *targetSelection {
	switch {
	case len(in.Targets) > 0:
		return in.destroyTargets()
	case len(in.Excludes) > 0:
		return in.destroyUnexcluded()
	}
	return nil
}

// Partial reports whether anything may be left out.
func (s *targetSelection) Partial() bool { return s != nil }

// hasObject reports whether a block, a value or a call is selected. Some instances of a selected block may be
// left out: see [targetSelection.hasInstance].
func (s *targetSelection) hasObject(o addrs.Object) bool { return s == nil || s.objects[o] }

// hasBlock reports for a resource block what [targetSelection.hasObject] reports for any object.
func (s *targetSelection) hasBlock(cr addrs.ConfigResource) bool { return s.hasObject(cr.Object()) }

// HasModule reports whether the call of a module is selected. Only then is the module expanded. The root module
// is always selected.
func (s *targetSelection) HasModule(m *config.Module) bool {
	return s == nil || m.Parent == nil || s.objects[addrs.Object{Module: m.Parent.Addr, Kind: addrs.KindCall, Name: m.Call.Name}]
}

// hasInstance reports whether a resource instance is selected.
func (s *targetSelection) hasInstance(a addrs.AbsResourceInstance) bool {
	return s == nil || s.instances.has(a)
}

// Names reports whether a resource instance is selected for itself, not just as a dependency of another.
func (s *targetSelection) Names(a addrs.AbsResourceInstance) bool {
	return s == nil || s.instances.names(a)
}

// hasAny reports whether the state has a selected instance of any of these resources.
func (s *targetSelection) hasAny(list []addrs.AbsResource, state *states.State) bool {
	return s == nil || slices.ContainsFunc(list, func(abs addrs.AbsResource) bool {
		for k := range state.Resource(abs).Instances {
			if s.instances.has(abs.Instance(k)) {
				return true
			}
		}
		return false
	})
}

// blocks returns all resource blocks of the configuration.
func (in *targetInput) blocks() []addrs.ConfigResource {
	var out []addrs.ConfigResource
	for _, m := range in.Config.Order {
		for r := range m.Resources {
			out = append(out, addrs.ConfigResource{Module: m.Addr, Resource: r})
		}
	}
	return out
}

// mayName reports whether one of the targets may name an instance of a block. If there are no targets, it
// returns true.
func (o targetOptions) mayName(cr addrs.ConfigResource) bool {
	return len(o.Targets) == 0 || targetsMayName(o.Targets, cr)
}

// targetsMayName reports whether one of the addresses may name an instance of a block, if instance keys are
// ignored.
func targetsMayName(list []addrs.Target, cr addrs.ConfigResource) bool {
	for _, t := range list {
		tm := t.Module.Module()
		switch {
		case t.IsModule() && tm.Contains(cr.Module):
			return true
		case !t.IsModule() && tm == cr.Module && t.Resource == cr.Resource:
			return true
		}
	}
	return false
}

// targetsContain reports whether one of the addresses names an instance.
func targetsContain(list []addrs.Target, a addrs.AbsResourceInstance) bool {
	return slices.ContainsFunc(list, func(t addrs.Target) bool { return t.Contains(a) })
}

// option returns the name of the option in effect; "" if there is none.
func (o targetOptions) option() string {
	switch {
	case len(o.Targets) > 0:
		return "-target"
	case len(o.Excludes) > 0:
		return "-exclude"
	}
	return ""
}

// Warnings returns a warning that the plan is partial, if an option is in effect.
func (o targetOptions) Warnings() diags.Diagnostics {
	option := o.option()
	if option == "" || option == "-exclude" && len(o.Waiting) == len(o.Excludes) {
		return nil
	}
	return diags.Warningf(nil, "Resource targeting is in effect",
		"You are creating a plan with the %s option, which means that the result of this plan may not represent all of the changes requested by the current configuration.\n\nThe %[1]s option is not for routine use, and is provided only for exceptional situations such as recovering from errors or mistakes.", option)
}

// checkMoves returns errors for instances that moved while only their old or only their new address is
// selected. If only half of a move were planned, an object would be lost or created a second time. origins
// has the old addresses by the new ones.
func (o targetOptions) checkMoves(origins map[addrs.AbsResourceInstance]addrs.AbsResourceInstance) diags.Diagnostics {
	option := o.option()
	if option == "" {
		return nil
	}
	left := map[string]bool{}
	for to, from := range origins {
		for _, a := range []addrs.AbsResourceInstance{from, to} {
			if len(o.Targets) > 0 && !targetsContain(o.Targets, a) || targetsContain(o.Excludes, a) {
				left[a.String()] = true
			}
		}
	}
	if len(left) == 0 {
		return nil
	}
	remedy := "leave those out that name"
	if option == "-target" {
		remedy = "add"
	}
	var options strings.Builder
	for _, a := range slices.Sorted(maps.Keys(left)) {
		fmt.Fprintf(&options, "\n  %s=%q", option, a)
	}
	return diags.Errorf(nil, "Moved resource instances excluded by targeting",
		"By the configuration, objects of the state have other addresses than they had. A plan must have both addresses of each, but the %s options leave some out. Plan without these options, or %s:%s", option, remedy, options.String())
}
