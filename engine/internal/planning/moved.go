package planning

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// checkMoves returns errors for moved blocks that make no sense. It runs after the walk, which expands the
// blocks: whether an address is still declared depends on count and for_each. The moves themselves were made
// in the prior state before the walk. So a plan with a bad move is dropped, even if all blocks were planned
// without errors.
func (p *planner) checkMoves() diags.Diagnostics {
	if ds := checkMoves(p.in.Config, expansion{p}, p.in.Mode == plans.NormalMode); ds.HasErrors() {
		return ds
	}
	return p.moved.Cycle
}

// expansion is the [moveExpansion] of a plan after its walk. Modules and resources that are not selected are
// not expanded, and moves from or to them are not checked: the next complete plan checks them.
type expansion struct{ p *planner }

func (e expansion) Modules(m *config.Module) ([]addrs.ModuleInstance, bool) {
	if !e.p.selected.HasModule(m) {
		return nil, false
	}
	ins, _ := e.p.s.Eval.Modules(m)
	return ins, true
}

func (e expansion) Keys(abs addrs.AbsResource) ([]addrs.InstanceKey, bool) {
	keys, ok := e.p.instances.Resources[abs]
	return keys, ok
}
