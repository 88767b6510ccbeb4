package comparing

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/jsonvalues"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// Compare returns the differences between an approved plan and a plan that was made again, in the order of
// addresses. If there are none, the approval also covers the new plan. An incomplete plan always has a
// difference.
func Compare(approved, now *plans.Plan) []Difference {
	d := &differences{}
	d.request(approved, now)
	d.variables(approved, now)
	mode := approved.Mode
	a, b := approved.Changes, now.Changes
	if mode == plans.RefreshOnlyMode {
		a, b = slices.Concat(a, approved.Drift), slices.Concat(b, now.Drift)
	}
	d.changes(effects(a, mode), effects(b, mode), now)
	d.invocations(approved.Invocations, now.Invocations)
	d.outputs(approved.Outputs, now.Outputs)
	return d.list
}

// request compares the options of the two plans.
func (d *differences) request(approved, now *plans.Plan) {
	option := func(name string, of func(*plans.Plan) string) {
		d.texts(name, Request, of(approved), of(now))
	}
	option("mode", func(p *plans.Plan) string { return string(p.Mode) })
	if now.Errored {
		d.add(Difference{Object: "result", Aspect: Request, Approved: fact("planned"), Now: fact("failed")})
	}
	option("targets", func(p *plans.Plan) string { return list(p.Targets) })
	option("excludes", func(p *plans.Plan) string { return list(p.Excludes) })
	option("action to invoke", func(p *plans.Plan) string {
		if p.Invoke == (addrs.AbsResourceInstance{}) {
			return ""
		}
		return p.Invoke.String()
	})
	option("replacements", func(p *plans.Plan) string { return list(p.ForceReplace) })
	option("backend", func(p *plans.Plan) string { return p.Backend.Type })
	option("workspace", func(p *plans.Plan) string { return p.Backend.Workspace })
	option("ephemeral variables", func(p *plans.Plan) string {
		return strings.Join(slices.Sorted(slices.Values(p.EphemeralVariables)), ", ")
	})
}

// list returns addresses as a text that does not depend on their order.
func list[A fmt.Stringer](all []A) string {
	var out []string
	for _, a := range all {
		out = append(out, a.String())
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// variables compares the root variables whose values the approved plan knows. It ignores others, since no
// block of the approved configuration refers to them. A plan does not know which variables are sensitive, so
// no value may be shown.
func (d *differences) variables(approved, now *plans.Plan) {
	for _, name := range slices.Sorted(maps.Keys(approved.Variables)) {
		d.values("var."+name, Variable, approved.Variables[name], now.Variables[name], []cty.Path{nil})
	}
}

// effects returns the changes that have an effect, by object. In a plan that only refreshes, they are the
// drift.
func effects(all []*plans.ResourceChange, mode plans.Mode) map[addrs.ResourceInstanceObject]*plans.ResourceChange {
	out := map[addrs.ResourceInstanceObject]*plans.ResourceChange{}
	for _, c := range all {
		if c.Action != plans.NoOp || c.Importing != nil || moved(c) != "" || mode == plans.RefreshOnlyMode {
			out[c.Addr] = c
		}
	}
	return out
}

// Touched returns the addresses of the resources that at least one of the plans changes or reads, without
// modules and instance keys.
func Touched(approved, now *plans.Plan) map[string]bool {
	out := map[string]bool{}
	for _, p := range []*plans.Plan{approved, now} {
		for addr := range effects(p.Changes, p.Mode) {
			out[addr.Instance.Resource.Resource.String()] = true
		}
	}
	return out
}

// moved returns the former address of a moved object; "" if the object is not moved.
func moved(c *plans.ResourceChange) string {
	if c.PrevAddr == (addrs.AbsResourceInstance{}) || c.PrevAddr == c.Addr.Instance {
		return ""
	}
	return c.PrevAddr.String()
}

type changes = map[addrs.ResourceInstanceObject]*plans.ResourceChange

// changes compares the effects of the two plans.
func (d *differences) changes(approved, now changes, again *plans.Plan) {
	all := maps.Clone(approved)
	maps.Copy(all, now)
	byText := func(a, b addrs.ResourceInstanceObject) int {
		return strings.Compare(a.String(), b.String())
	}
	for _, addr := range slices.SortedFunc(maps.Keys(all), byText) {
		a, b := approved[addr], now[addr]
		switch {
		case a != nil && b != nil:
			d.change(a, b)
		case b == nil && a.Action == plans.Read:
			d.read(a, again.PriorState)
		default:
			d.texts(addr.String(), Action, word(a), word(b))
		}
	}
}

// change compares the changes of one object in the two plans.
func (d *differences) change(a, b *plans.ResourceChange) {
	object := a.Addr.String()
	d.texts(object, Action, word(a), word(b))
	d.texts(object, Provider, a.Provider.String(), b.Provider.String())
	d.texts(object, Moved, moved(a), moved(b))
	d.imports(object, a.Importing, b.Importing)
	for _, side := range []struct {
		aspect Aspect
		a, b   cty.Value
	}{{Before, a.Before, b.Before}, {After, a.After, b.After}} {
		d.values(object, side.aspect, side.a, side.b, slices.Concat(hidden(a.Schema, side.a), hidden(b.Schema, side.b)))
	}
}

// invocations compares the actions to invoke. It also compares the order of actions at the same moment of a
// resource's change.
func (d *differences) invocations(approved, now []*plans.Invocation) {
	find := func(all []*plans.Invocation) map[string]*plans.Invocation {
		out := map[string]*plans.Invocation{}
		for _, x := range all {
			out[named(x)] = x
		}
		return out
	}
	a, b := find(approved), find(now)
	names := maps.Clone(a)
	maps.Copy(names, b)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		x, y := a[name], b[name]
		if d.texts(name, Action, invoked(x), invoked(y)); x == nil || y == nil {
			continue
		}
		d.texts(name, Provider, x.Provider.String(), y.Provider.String())
		d.values(name, After, x.Config, y.Config, slices.Concat(hidden(x.Schema, x.Config), hidden(y.Schema, y.Config)))
	}
}

// named returns the name of an invocation: the action, the resource instance that calls it, the moment, and its turn.
func named(x *plans.Invocation) string {
	switch {
	case x.Event != "":
		return fmt.Sprintf("%s (%s of %s, %d.%d)", x.Addr, x.Event, x.Caller, x.Trigger, x.Index)
	case x.Caller != (addrs.AbsResourceInstance{}):
		return fmt.Sprintf("%s (for %s)", x.Addr, x.Caller)
	}
	return x.Addr.String()
}

// invoked returns the word for an invocation, to show in a difference; "" if x is nil.
func invoked(x *plans.Invocation) string {
	switch {
	case x == nil:
		return ""
	case x.Event == "":
		return "invoke"
	}
	return "invoke, on failure " + string(x.OnFailure)
}

// word returns the word for the action of a change, to show in a difference; "" if c is nil.
func word(c *plans.ResourceChange) string {
	switch {
	case c == nil:
		return ""
	case c.KeepsOld:
		return "replace, the old object stays"
	case c.Action == plans.DeleteThenCreate:
		return "replace, destroyed first"
	case c.Action == plans.CreateThenDelete:
		return "replace, created first"
	case c.Action == plans.Delete && c.CreateBeforeDestroy:
		return "delete, after creations" // the order relative to other changes matters
	}
	return c.Action.String()
}

// imports compares the IDs and identities to import. An ID or identity that was unknown may have become
// known.
func (d *differences) imports(object string, a, b *plans.Importing) {
	id := func(i *plans.Importing) cty.Value {
		switch {
		case i == nil:
			return cty.NilVal
		case i.Unknown:
			return cty.UnknownVal(cty.String)
		}
		if i.Identity != cty.NilVal {
			return i.Identity
		}
		return cty.StringVal(i.ID)
	}
	d.values(object, Import, id(a), id(b), nil)
}

// read compares a read that the approved plan deferred to the apply, and that the new plan does not have,
// because it has read the data already. The value in the prior state must agree with the approved plan, as far
// as that plan knew the value.
func (d *differences) read(a *plans.ResourceChange, prior *states.State) {
	object := a.Addr.String()
	var o *states.Object
	if prior != nil {
		o = prior.Object(a.Addr)
	}
	value := cty.NilVal
	if o != nil {
		value = o.Value
	}
	if value == cty.NilVal && o != nil && o.AttrsJSON != nil && a.Schema != nil {
		if v, err := jsonvalues.Parse(o.AttrsJSON, a.Schema.Block.ImpliedType()); err == nil {
			value = v
		}
	}
	if value == cty.NilVal {
		d.texts(object, Action, word(a), "")
		return
	}
	d.values(object, After, a.After, value, slices.Concat(hidden(a.Schema, a.After), hidden(a.Schema, value)))
}

// hidden returns the paths of a value that are sensitive by its schema.
func hidden(s *schema.Schema, v cty.Value) []cty.Path {
	if s == nil || s.Block == nil || v == cty.NilVal || v.IsNull() {
		return nil
	}
	return s.Block.SensitivePaths(marks.Plain(v))
}

// outputs compares the outputs that at least one plan changes. It does not compare actions: they follow from
// the values.
func (d *differences) outputs(approved, now []*plans.OutputChange) {
	find := func(all []*plans.OutputChange) map[string]*plans.OutputChange {
		out := map[string]*plans.OutputChange{}
		for _, o := range all {
			if o.Action != plans.NoOp {
				out[o.Name] = o
			}
		}
		return out
	}
	whole := map[string]*plans.OutputChange{} // all outputs of the new plan, no-ops included
	for _, o := range now {
		whole[o.Name] = o
	}
	a, b := find(approved), find(now)
	names := maps.Clone(a)
	maps.Copy(names, b)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		x, y := a[name], b[name]
		if y == nil {
			y = whole[name] // an unknown value has turned out to be the old one
		}
		d.output("output."+name, x, y)
	}
}

func (d *differences) output(object string, a, b *plans.OutputChange) {
	if a == nil || b == nil {
		action := func(o *plans.OutputChange) string {
			if o == nil {
				return ""
			}
			return o.Action.String()
		}
		d.texts(object, Action, action(a), action(b))
		return
	}
	if a.Sensitive != b.Sensitive {
		d.texts(object, Sensitivity, sensitivity(a), sensitivity(b))
	}
	var all []cty.Path
	if a.Sensitive || b.Sensitive {
		all = []cty.Path{nil}
	}
	d.values(object, Before, a.Before, b.Before, all)
	d.values(object, After, a.After, b.After, all)
}

func sensitivity(o *plans.OutputChange) string {
	if o.Sensitive {
		return "sensitive"
	}
	return "shown"
}
