package planning

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/digests"
	"github.com/lockstep-iac/lockstep/engine/eval"
)

// A condition says something about objects that need not have a change. So a plan with -refresh=affected also
// reads the objects of a condition that is new, was edited, or fails. All other conditions were met by the same
// objects at the last apply.

// conditionsPrefix begins the entry of an object with conditions. No address of an instance begins like this.
const conditionsPrefix = "conditions "

// A conditioned is an object with conditions: a resource, an output, a variable or a check block.
type conditioned struct {
	addrs.Object
	module *config.Module
	list   []*config.Condition
}

// conditioned returns all objects with conditions.
func (a *affected) conditioned() []conditioned {
	var out []conditioned
	for _, m := range a.p.in.Config.Order {
		add := func(o addrs.Object, list []*config.Condition) {
			if len(list) > 0 {
				o.Module = m.Addr
				out = append(out, conditioned{o, m, list})
			}
		}
		for _, r := range m.Resources {
			add(addrs.Object{Kind: addrs.KindResource, Res: r.Addr}, slices.Concat(r.Preconditions, r.Postconditions))
		}
		for name, x := range m.Outputs {
			add(addrs.Object{Kind: addrs.KindOutput, Name: name}, x.Preconditions)
		}
		for name, x := range m.Variables {
			add(addrs.Object{Kind: addrs.KindVariable, Name: name}, x.Validations)
		}
		for name, x := range m.Checks {
			add(addrs.Object{Kind: addrs.KindCheck, Name: name}, x.Asserts)
		}
	}
	return out
}

// newConditions returns the objects whose conditions are not those of the last apply, and the check blocks that
// fail. Call it after the check blocks are evaluated.
func (a *affected) newConditions() []addrs.Object {
	failed := map[string]bool{}
	for _, c := range a.p.s.Eval.Checks() {
		if c.Kind == eval.KindCheck && (c.Status == eval.Fail || c.Status == eval.Errored) {
			failed[c.Config] = true
		}
	}
	var out []addrs.Object
	for _, c := range a.conditioned() {
		if a.p.unselected(c.Object) {
			continue
		}
		e, known := a.Record.Entry(conditionsPrefix + c.String())
		sum, ok := a.p.s.ConditionsDigest(c.module, c.list)
		if !ok || !known || e.Sum != sum || c.Kind == addrs.KindCheck && failed[c.String()] {
			out = append(out, c.Object)
		}
	}
	return out
}

// recordConditions keeps the digests of all conditions that the plan has evaluated. Objects that the options leave
// out keep those of the last apply.
func (a *affected) recordConditions() {
	for _, c := range a.conditioned() {
		name := conditionsPrefix + c.String()
		if a.p.unselected(c.Object) {
			if e, ok := a.Record.Entry(name); ok {
				a.entries[name] = e
			}
			continue
		}
		if sum, ok := a.p.s.ConditionsDigest(c.module, c.list); ok {
			a.entries[name] = digests.Entry{Sum: sum}
		}
	}
}
