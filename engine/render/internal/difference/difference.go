package difference

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// OfResource returns the change of a resource's object. rs is nil if its schema is unknown. If relevant is
// not nil, only differences at these paths are shown as changes.
func OfResource(c *plans.ResourceChange, rs *schema.Schema, relevant *PathSet) *Node {
	x := pair{
		before: c.Before, after: c.After, replace: c.RequiredReplace, relevant: relevant,
	}.implicit()
	switch {
	case c.Action == plans.Forget:
		x.after = x.before // the object stays unchanged
	case !c.Action.IsReplace():
		x.replace = nil
	}
	if rs == nil {
		n := objectChange(x, union(members(x.before), members(x.after)), func(x pair, _ string) *Node { return dynamicChange(x) })
		n.Nested = true
		return n
	}
	return blockChange(x, rs.Block)
}

// OfOutput returns the change of an output.
func OfOutput(o *plans.OutputChange) *Node {
	return dynamicChange(pair{before: o.Before, after: o.After}.implicit())
}

// Of returns the change between two values of any types. [Nothing] means that there is no value.
func Of(before, after cty.Value) *Node { return dynamicChange(pair{before: before, after: after}) }

// OfValue returns v as a tree without changes.
func OfValue(v cty.Value) *Node { return changeOf(pair{before: v, after: v}, v.Type()) }

// Lines pairs the lines of two texts, in the order to show them: [b, a] are indices, and -1 means no line.
func Lines(before, after []string) [][2]int {
	b, a := numberLines(before, after)
	return align(b, a, func(int, int) bool { return false })
}
