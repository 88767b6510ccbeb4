// Package causes finds the lines of a configuration that cause the changes of a plan.
//
// A search begins at each changed attribute and follows the references of its expression backwards: through
// local values, variables, arguments and outputs of modules, count and for_each, to other resources that change.
// It ends at lines that were edited, or at values that refer to nothing. The search narrows each expression to
// the part that makes the changed value: for `local.tags["team"]`, it looks at this element of local.tags only.
//
// The package evaluates nothing and reads no files. Start at [Find].
package causes

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// Input is a plan with the configuration that it was made of.
type Input struct {
	Config *config.Config
	Plan   *plans.Plan
	// Values has the expressions of the root module's variables that are in files, by name. A variable without
	// one has its default, or a value that is in no file.
	Values map[string]hcl.Expression
	// Settings are the names of files that give values to variables and are not in Values, such as lockstep.hcl.
	// If such a file assigns a variable on an edited line, that line is a cause.
	Settings []string
	// Edits are the edits whose effects are searched for. If it is nil, Find returns all places from which the
	// value comes: edited or not.
	Edits Edits
}

// A Cause is one place in the configuration that causes a planned change.
type Cause struct {
	// Change is the change of an object. For an output it is nil, and Output is set.
	Change *plans.ResourceChange
	Output *plans.OutputChange
	// Attribute is the attribute that changes, with its values. It is nil if the place causes the action as a
	// whole: a new block, another count.
	Attribute     cty.Path
	Before, After cty.Value
	// Replaces is set if the attribute's change forces the replacement of the object.
	Replaces bool
	// Steps are the references that lead from the attribute's expression to the place. Steps is empty if the
	// place is in the expression itself.
	Steps []Step
	// Place has the lines that cause the change, without columns. It is the zero range if Unedited is set.
	Place hcl.Range
	// Unedited says why no edited line causes the change.
	Unedited Reason
}

// Object returns the address of the object that changes; for an output, "output." and its name.
func (c Cause) Object() string {
	if c.Change == nil {
		return "output." + c.Output.Name
	}
	return c.Change.Addr.String()
}

// AttributeName returns the attribute that changes as the configuration refers to it, such as `tags["a"]`; "" if the
// place causes the action as a whole.
func (c Cause) AttributeName() string {
	return strings.TrimPrefix(schema.FormatPath(c.Attribute), ".")
}

// A Step is one reference on the way from a changed attribute to the place that causes its change.
type Step struct {
	// Name is the object as the configuration refers to it: "var.size", "local.tags", "module.net.ids".
	Name string
	// Module is the module instance in which the reference is written, and Range where. Range is the zero range
	// if no expression refers to the object, such as a provider configuration.
	Module addrs.ModuleInstance
	Range  hcl.Range
}

// A Reason says why no edited line causes a change.
type Reason string

// The reasons. NotFound means that a change was there before the edits, or that the provider has caused it.
const (
	Edited    Reason = ""
	Drifted   Reason = "drift"        // the object was changed or deleted outside of the configuration
	Tainted   Reason = "tainted"      // a former apply has left the object incomplete, or a person marked it
	Requested Reason = "requested"    // the option -replace
	NotFound  Reason = "no edit"      // nothing of the above
	TooMany   Reason = "not searched" // the configuration is too large for the search
)

// Find returns the causes of all changes of a plan, in the order of the plan: those of objects first. A change
// without an edited line has one Cause with its reason. Find stops to search after some millions of steps.
func Find(in Input) []Cause {
	s := newSearch(in)
	var out []Cause
	for _, c := range in.Plan.Changes {
		if c.Action != plans.NoOp && c.Action != plans.Read && c.Addr.Instance.Resource.Resource.Mode == addrs.Managed {
			out = append(out, s.ofChange(c)...)
		}
	}
	for _, o := range in.Plan.Outputs {
		if o.Action != plans.NoOp {
			out = append(out, s.ofOutput(o)...)
		}
	}
	return out
}

// ofChange returns the causes of the change of one object.
func (s *search) ofChange(c *plans.ResourceChange) []Cause {
	var out []Cause
	add := func(path cty.Path, replaces bool, start func()) {
		for _, w := range s.from(start) {
			x := Cause{Change: c, Attribute: path, Replaces: replaces, Steps: w.steps, Place: w.place}
			if len(path) > 0 {
				x.Before, x.After = valueAt(c.Before, path), valueAt(c.After, path)
			}
			out = append(out, x)
		}
	}
	add(nil, false, func() { s.existence(nil, c) })
	if c.Action == plans.Update || c.Action.IsReplace() {
		for _, path := range changed(c) {
			add(path, s.forces(c, path), func() { s.attribute(nil, c, path) })
		}
		if len(out) == 0 {
			add(nil, false, func() { s.provider(nil, c) })
		}
	}
	if len(out) == 0 {
		out = append(out, Cause{Change: c, Unedited: s.unedited(c)})
	}
	return out
}

func (s *search) ofOutput(o *plans.OutputChange) []Cause {
	var out []Cause
	block := s.Config.Root.Outputs[o.Name]
	for _, w := range s.from(func() {
		if block == nil {
			s.removedBlock(nil, s.Config.Root, "output", o.Name)
			return
		}
		s.expression(nil, scope{}, block.Expr, nil)
	}) {
		out = append(out, Cause{Output: o, Before: o.Before, After: o.After, Steps: w.steps, Place: w.place})
	}
	if len(out) == 0 {
		out = append(out, Cause{Output: o, Unedited: NotFound})
	}
	return out
}

// unedited returns the reason why no edited line causes a change.
func (s *search) unedited(c *plans.ResourceChange) Reason {
	switch {
	case s.left <= 0:
		return TooMany
	case c.Reason == plans.ReasonReplaceBecauseTainted:
		return Tainted
	case c.Reason == plans.ReasonReplaceByRequest:
		return Requested
	case slices.ContainsFunc(s.Plan.Drift, func(d *plans.ResourceChange) bool { return d.Addr == c.Addr && d.Action != plans.NoOp }):
		return Drifted
	}
	return NotFound
}

// forces reports whether the change of an attribute forces the replacement of the object.
func (s *search) forces(c *plans.ResourceChange, path cty.Path) bool {
	return c.Action.IsReplace() && slices.ContainsFunc(c.RequiredReplace, func(p cty.Path) bool {
		return p.HasPrefix(path) || path.HasPrefix(p)
	})
}

// maxPaths is the maximum number of changed attributes of one object for which causes are searched.
const maxPaths = 100

// changed returns the paths of the attributes that differ between the two values of a change, as deep as both
// have the same shape.
func changed(c *plans.ResourceChange) []cty.Path {
	var out []cty.Path
	before, _ := c.Before.UnmarkDeep()
	after, _ := c.After.UnmarkDeep()
	compare(before, after, nil, &out)
	slices.SortStableFunc(out, func(a, b cty.Path) int { return cmp.Compare(len(a), len(b)) })
	return out
}

func compare(a, b cty.Value, path cty.Path, out *[]cty.Path) {
	if len(*out) >= maxPaths || a.IsKnown() && b.IsKnown() && a.RawEquals(b) {
		return
	}
	ta, tb := a.Type(), b.Type()
	if !a.IsKnown() || !b.IsKnown() || a.IsNull() || b.IsNull() || !deep(ta) || !deep(tb) || ta.IsObjectType() != tb.IsObjectType() {
		if len(path) > 0 {
			*out = append(*out, path)
		}
		return
	}
	switch {
	case ta.IsObjectType(), ta.IsMapType():
		keys := map[string]bool{}
		for _, v := range []cty.Value{a, b} {
			for k := range v.AsValueMap() {
				keys[k] = true
			}
		}
		for _, k := range sorted(keys) {
			step := cty.PathStep(cty.IndexStep{Key: cty.StringVal(k)})
			if ta.IsObjectType() {
				step = cty.GetAttrStep{Name: k}
			}
			compare(elementOf(a, k), elementOf(b, k), append(slices.Clip(path), step), out)
		}
	case a.LengthInt() != b.LengthInt():
		*out = append(*out, path)
	default:
		before, after := a.AsValueSlice(), b.AsValueSlice()
		for i := range before {
			compare(before[i], after[i], append(slices.Clip(path), cty.IndexStep{Key: cty.NumberIntVal(int64(i))}), out)
		}
	}
}

// deep reports whether values of a type have elements that paths lead to.
func deep(t cty.Type) bool {
	return t.IsObjectType() || t.IsMapType() || t.IsListType() || t.IsTupleType()
}

// elementOf returns an attribute or element of v; null if v does not have it.
func elementOf(v cty.Value, key string) cty.Value {
	if x, has := v.AsValueMap()[key]; has {
		return x
	}
	return cty.NullVal(cty.DynamicPseudoType)
}

// valueAt returns the value at a path, with its marks and those of the values around it; null if there is none.
func valueAt(v cty.Value, path cty.Path) cty.Value {
	x, err := path.Apply(v)
	if err != nil {
		return cty.NullVal(cty.DynamicPseudoType)
	}
	return x
}

// differs reports whether a change changes the value at a path.
func differs(c *plans.ResourceChange, path cty.Path) bool {
	if c.Action == plans.NoOp {
		return false // it may have no values: see [plans.ResourceChange.Unchanged]
	}
	before, _ := c.Before.UnmarkDeep()
	after, _ := c.After.UnmarkDeep()
	a, b := valueAt(before, path), valueAt(after, path)
	return !a.IsWhollyKnown() || !b.IsWhollyKnown() || !a.RawEquals(b)
}
