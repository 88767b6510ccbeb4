package planning

import (
	"maps"
	"reflect"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// outputs plans the changes of the root module's outputs, sorted by name. An
// output whose value could not be had is left out.
//
// Outputs are planned after the walk, since nothing in the root module refers to them. Only a plan of the
// whole configuration deletes those that are not declared any more: with -target nobody can
// tell whether the one who asked wanted that, too. Source: Terraform 1.11.4.
func (p *planner) outputs() []*plans.OutputChange {
	var out []*plans.OutputChange
	root := p.in.Config.Root
	for _, name := range slices.Sorted(maps.Keys(root.Outputs)) {
		o := root.Outputs[name]
		if at := (addrs.Object{Kind: addrs.KindOutput, Name: name}); p.unselected(at) || p.waits(at) {
			continue
		}
		if p.usual() {
			v, ds := p.s.Eval.Output(addrs.RootModuleInstance, name)
			if ds.HasErrors() {
				continue
			}
			p.foresee(o, v)
			if p.in.Mode != plans.DestroyMode {
				out = append(out, p.output(o, v))
			}
		}
	}
	if p.in.Mode == plans.DestroyMode {
		return p.deletedOutputs()
	}
	if !p.selected.Partial() {
		for name, old := range p.in.State.Outputs() {
			if root.Outputs[name] == nil {
				out = append(out, deletedOutput(name, old))
			}
		}
	}
	slices.SortFunc(out, func(a, b *plans.OutputChange) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return out
}

// foresee records the known value of an output in the prior state of the plan, as Terraform does:
// programs read there the values that will not change. An output of which a part is not known yet keeps
// its last value there, rather than half of the new one.
func (p *planner) foresee(o *config.Output, v cty.Value) {
	plain := marks.Plain(v)
	switch {
	case !plain.IsWhollyKnown():
	case plain.IsNull():
		p.prior.Editor().RemoveOutput(o.Name)
	default:
		p.prior.Editor().SetOutput(o.Name, states.Output{Value: plain, Sensitive: o.Sensitive})
	}
}

// output compares an output's value with the one in the state. A missing value counts as null, in
// both: an output that is and was null has no change, whatever the types of the nulls. A change of
// sensitivity alone is an update, since the state records it.
//
// An unchanged value may be encoded otherwise in the state, such as a list that is a tuple now. That
// is no change to show, but the state has to be written (rewritten).
func (p *planner) output(o *config.Output, v cty.Value) *plans.OutputChange {
	old, had := p.in.State.Output(o.Name)
	before := cty.NullVal(cty.DynamicPseudoType)
	if had {
		before = old.Value
	}
	plain := marks.Plain(v)
	c := &plans.OutputChange{Name: o.Name, Sensitive: o.Sensitive || had && old.Sensitive}
	c.Before, c.After = before, plain
	switch {
	case plain.IsNull() && before.IsNull():
		c.Action = plans.NoOp
	case !had: // one that is in the state as null is updated
		c.Action = plans.Create
	case plain.IsWhollyKnown() && plain.RawEquals(before) && o.Sensitive == old.Sensitive:
		c.Action = plans.NoOp
		if !reflect.DeepEqual(plain, before) {
			p.rewritten.Store(true)
		}
	default:
		c.Action = plans.Update
	}
	if c.Action == plans.NoOp {
		c.After = before // one null may have another type than the other
	}
	if had && old.Sensitive {
		c.Before = c.Before.Mark(marks.Sensitive)
	}
	if o.Sensitive {
		c.After = c.After.Mark(marks.Sensitive)
	}
	return c
}

// deletedOutputs plans the removal of all outputs in the state. A destroy with -target leaves them:
// the objects that they refer to may go on to exist.
func (p *planner) deletedOutputs() []*plans.OutputChange {
	var out []*plans.OutputChange
	if p.selected.Partial() {
		return nil
	}
	state := p.prior.State()
	for _, name := range slices.Sorted(maps.Keys(maps.Collect(state.Outputs()))) {
		old, _ := state.Output(name)
		out = append(out, deletedOutput(name, old))
	}
	return out
}

func deletedOutput(name string, old states.Output) *plans.OutputChange {
	c := &plans.OutputChange{Name: name, Sensitive: old.Sensitive}
	c.Action, c.Before, c.After = plans.Delete, old.Value, cty.NullVal(cty.DynamicPseudoType)
	if old.Sensitive {
		c.Before = c.Before.Mark(marks.Sensitive)
	}
	return c
}
