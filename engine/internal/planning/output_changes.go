package planning

import (
	"cmp"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// outputInput is everything that the changes of outputs depend on.
type outputInput struct {
	Declared map[string]*config.Output
	// Values are the values of the selected outputs that could be evaluated, with their marks. Other outputs
	// have no change.
	Values map[string]cty.Value
	Was    *states.State // the state as it was read
	// Partial is set in a plan for part of the configuration. An output of the state that is no
	// longer declared then stays: the options of the plan do not say whether they include it.
	Partial bool
}

// outputChanges returns the changes of outputs, sorted by name.
//
// Only a complete plan deletes outputs that are no longer declared. Source: Terraform 1.11.4.
func outputChanges(in outputInput) []*plans.OutputChange {
	var changes []*plans.OutputChange
	for name, v := range in.Values {
		changes = append(changes, changeOfOutput(in.Declared[name], v, in.Was))
	}
	if !in.Partial {
		for name, old := range in.Was.Outputs() {
			if in.Declared[name] == nil {
				changes = append(changes, deletionOfOutput(name, old))
			}
		}
	}
	slices.SortFunc(changes, func(a, b *plans.OutputChange) int { return cmp.Compare(a.Name, b.Name) })
	return changes
}

// changeOfOutput compares an output's value with the value in the state. A missing value counts as null on
// both sides: an output that is and was null has no change, even if the types of the nulls differ. A change
// of only the sensitivity is an update, since the state records it.
func changeOfOutput(o *config.Output, v cty.Value, prior *states.State) *plans.OutputChange {
	old, had := prior.Output(o.Name)
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
	case !had: // an output that the state has as null is updated
		c.Action = plans.Create
	case plain.IsWhollyKnown() && plain.RawEquals(before) && o.Sensitive == old.Sensitive:
		c.Action = plans.NoOp
	default:
		c.Action = plans.Update
	}
	if c.Action == plans.NoOp {
		c.After = before // the types of the nulls may differ
	}
	if had && old.Sensitive {
		c.Before = c.Before.Mark(marks.Sensitive)
	}
	if o.Sensitive {
		c.After = c.After.Mark(marks.Sensitive)
	}
	return c
}

// outputDeletions returns the deletion of all outputs in the prior state and in the stored one, sorted by name, for a
// destroy of everything. The prior state lacks the stored outputs that are null by now.
func outputDeletions(prior, stored *states.State) []*plans.OutputChange {
	all := maps.Collect(stored.Outputs())
	maps.Insert(all, prior.Outputs())
	var out []*plans.OutputChange
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, deletionOfOutput(name, all[name]))
	}
	return out
}

func deletionOfOutput(name string, old states.Output) *plans.OutputChange {
	c := &plans.OutputChange{Name: name, Sensitive: old.Sensitive}
	c.Action, c.Before, c.After = plans.Delete, old.Value, cty.NullVal(cty.DynamicPseudoType)
	if old.Sensitive {
		c.Before = c.Before.Mark(marks.Sensitive)
	}
	return c
}

// foreseeOutput records the new value of an output in the prior state of a plan, if the whole value is known.
// Terraform does the same: programs look there for values that will not change. If a part of the new value is
// unknown, the prior state keeps the old value.
func foreseeOutput(prior *states.Editor, o *config.Output, v cty.Value) {
	plain := marks.Plain(v)
	switch {
	case !plain.IsWhollyKnown():
	case plain.IsNull():
		prior.RemoveOutput(o.Name)
	default:
		prior.SetOutput(o.Name, states.Output{Value: plain, Sensitive: o.Sensitive})
	}
}
