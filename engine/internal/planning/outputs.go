package planning

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// outputs plans the changes of the root module's outputs. It leaves out outputs whose value could not be
// evaluated.
//
// Outputs are planned after the walk, since nothing in the root module refers to them. A plan that destroys
// evaluates them for their errors and for the prior state, and then deletes those in the state. With -target
// it keeps them, since the objects that they refer to may continue to exist.
func (p *planner) outputs() []*plans.OutputChange {
	root := p.in.Config.Root
	values := map[string]cty.Value{}
	for _, name := range slices.Sorted(maps.Keys(root.Outputs)) {
		if at := (addrs.Object{Kind: addrs.KindOutput, Name: name}); p.unselected(at) || p.waits(at) || !p.usual() {
			continue
		}
		v, ds := p.s.Eval.Output(addrs.RootModuleInstance, name)
		if ds.HasErrors() || root.Outputs[name].Ephemeral { // of a test: see config.Output.Tested
			continue
		}
		foreseeOutput(p.prior.Editor(), root.Outputs[name], v)
		values[name] = v
	}
	switch {
	case p.in.Mode != plans.DestroyMode:
		return outputChanges(outputInput{Declared: root.Outputs, Values: values, Was: p.in.State, Partial: p.selected.Partial()})
	case p.selected.Partial():
		return nil
	}
	return outputDeletions(p.prior.State(), p.in.State)
}
