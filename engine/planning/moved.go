package planning

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/refactoring"
)

// checkMoves reports moved blocks that make no sense. It comes after the walk, which
// expands the blocks.
func (p *planner) checkMoves() diags.Diagnostics {
	if ds := refactoring.Check(p.in.Config, expansion{p}, p.in.Mode == plans.NormalMode); ds.HasErrors() {
		return ds
	}
	return p.moved.Cycle
}

// expansion is the [refactoring.Expansion] of a plan whose walk is over.
type expansion struct{ p *planner }

func (e expansion) Modules(m *config.Module) []addrs.ModuleInstance {
	if e.p.leavesOut(m) {
		return nil
	}
	ins, _ := e.p.s.Eval.Modules(m)
	return ins
}

func (e expansion) Keys(abs addrs.AbsResource) []addrs.InstanceKey {
	return e.p.instances.Resources[abs]
}

// checkTargetedMoves reports instances that got another address while the targets do not
// name both the old and the new one, or excludes name one: planned for half, an object would be lost or made twice.
func (p *planner) checkTargetedMoves() diags.Diagnostics {
	option := p.partOption()
	if option == "" {
		return nil
	}
	var left []string
	for to, from := range p.moved.Origins {
		for _, a := range []addrs.AbsResourceInstance{from, to} {
			named := func(t addrs.Target) bool { return t.Contains(a) }
			if len(p.in.Targets) > 0 && !slices.ContainsFunc(p.in.Targets, named) || slices.ContainsFunc(p.in.Excludes, named) {
				left = append(left, a.String())
			}
		}
	}
	if left == nil {
		return nil
	}
	slices.Sort(left)
	remedy := "leave those out that name"
	if option == "-target" {
		remedy = "add"
	}
	var options strings.Builder
	for _, a := range slices.Compact(left) {
		fmt.Fprintf(&options, "\n  %s=%q", option, a)
	}
	return diags.Errorf(nil, "Moved resource instances excluded by targeting",
		"By the configuration, objects of the state have other addresses than they had. A plan must have both addresses of each, but the %s options leave some out. Plan without these options, or %s:%s", option, remedy, options.String())
}
