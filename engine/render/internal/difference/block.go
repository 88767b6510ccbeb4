package difference

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// blockChange returns the change of the object that the block b describes.
func blockChange(x pair, b *schema.Block) *Node {
	again := func(x pair) *Node { return blockChange(x, b) }
	if n := x.hidden(again); n != nil {
		n.Kind = SensitiveBlock
		return n
	}
	if n := x.computed(again); n != nil {
		return n
	}
	x.modern = x.modern || isModern(b)
	n := &Node{Kind: Block, Action: x.start(), Replace: x.here()}
	for _, name := range slices.Sorted(maps.Keys(b.Attributes)) {
		part := x.with(named(name), attributeValue(x.before, name), attributeValue(x.after, name)).implicit()
		c := attributeChange(part, b.Attributes[name])
		if b.Attributes[name].WriteOnly {
			c.Action = x.start() // more is not known
		} else if c.Action == plans.NoOp && part.isNothing() {
			continue
		}
		n.Names, n.Parts = append(n.Names, name), append(n.Parts, c)
		n.Action = join(n.Action, c.Action)
	}
	for _, name := range slices.Sorted(maps.Keys(b.Blocks)) {
		part := x.with(named(name), attributeValue(x.before, name), attributeValue(x.after, name))
		if g := groupChange(part, name, b.Blocks[name]); len(g.Blocks) > 0 || g.Unknown {
			n.Groups = append(n.Groups, g)
			n.Action = join(n.Action, g.Action)
		}
	}
	return n
}

// isModern reports whether b has attributes that the legacy SDK cannot declare. As in Terraform, attributes
// in nested blocks do not count.
func isModern(b *schema.Block) bool {
	for _, nb := range b.Blocks {
		if nb.Nesting == schema.NestingMap || nb.Nesting == schema.NestingGroup {
			return true
		}
	}
	for _, a := range b.Attributes {
		switch {
		case a.Nested != nil, a.Type.HasDynamicTypes(), a.Type.IsTupleType(), a.Type.IsObjectType():
			return true
		case !a.Type.IsCollectionType():
		case a.Type.ElementType().IsCollectionType() && !a.Type.ElementType().ElementType().IsPrimitiveType():
			return true
		}
	}
	return false
}

// groupChange returns the changes of the nested blocks of one name.
func groupChange(x pair, name string, nb *schema.NestedBlock) Group {
	g := Group{Name: name, WasSensitive: isSensitive(x.before), IsSensitive: isSensitive(x.after)}
	x.before, x.after = withoutOwnMarks(x.before), withoutOwnMarks(x.after)
	of := func(x pair) *Node { return blockChange(x, nb.Block) }
	if nb.Nesting == schema.NestingSingle || nb.Nesting == schema.NestingGroup {
		x = x.implicit()
		if n := of(x); n.Action != plans.NoOp || !x.isNothing() {
			g.Blocks, g.Action = []*Node{n}, n.Action
		}
		return g
	}
	g.Replace = x.here()
	g.Unknown = x.after != Nothing && !x.after.IsKnown()
	g.Action = x.start()
	if g.Unknown {
		g.Action = plans.Update
		if presence(x.before) == Nothing {
			g.Action = plans.Create
		}
		x.after = Nothing
	}
	var n *Node
	switch nb.Nesting {
	case schema.NestingMap:
		n = mapChange(x, of)
		g.Labels = n.Names
	case schema.NestingSet:
		n = setChange(x, of)
	default:
		n = indexChange(x, of)
	}
	g.Blocks = n.Parts
	if !g.Unknown {
		g.Action = n.Action
	}
	return g
}

// indexChange returns the change of a list of blocks or nested objects. It pairs them by position, which
// identifies most of them. pairChange returns the change of one pair.
func indexChange(x pair, pairChange func(pair) *Node) *Node {
	n := &Node{Kind: List, Action: x.start(), Replace: x.here()}
	before, after := elements(x.before), elements(x.after)
	for i := range max(len(before), len(after)) {
		at := [2]int{i, i}
		if i >= len(before) {
			at[0] = -1
		}
		if i >= len(after) {
			at[1] = -1
		}
		c := pairChange(x.element(before, after, at))
		n.Parts = append(n.Parts, c)
		n.Action = join(n.Action, c.Action)
	}
	return n
}

// attributeChange returns the change of an attribute.
func attributeChange(x pair, a *schema.Attribute) *Node {
	if a.Sensitive {
		x.before, x.after = covered(x.before), covered(x.after)
	}
	switch {
	case a.WriteOnly:
		n := leafChange(x)
		n.Kind = WriteOnly
		return n
	case a.Nested != nil:
		return nestedChange(x, a.Nested)
	}
	return changeOf(x, a.Type)
}

// covered returns v marked as sensitive. Nothing stays Nothing.
func covered(v cty.Value) cty.Value {
	if v == Nothing {
		return v
	}
	return v.Mark(marks.Sensitive)
}

// nestedChange returns the change of the objects of a nested attribute.
func nestedChange(x pair, o *schema.Object) *Node {
	again := func(x pair) *Node { return nestedChange(x, o) }
	if n := x.hidden(again); n != nil {
		return n
	}
	if n := x.computed(func(x pair) *Node { return nestedChange(x.becomingUnknown(o), o) }); n != nil {
		return n
	}
	single := func(x pair) *Node {
		return nestedChange(x, &schema.Object{Attributes: o.Attributes, Nesting: schema.NestingSingle})
	}
	var n *Node
	switch o.Nesting {
	case schema.NestingMap:
		n = mapChange(x, single)
	case schema.NestingSet:
		n = setChange(x, single)
	case schema.NestingList:
		n = indexChange(x, single)
	default:
		n = objectChange(x, slices.Sorted(maps.Keys(o.Attributes)), func(x pair, name string) *Node {
			return attributeChange(x, o.Attributes[name])
		})
	}
	n.Nested = true
	return n
}

// becomingUnknown returns a pair of the value before and an object whose attributes are all unknown, so that
// the attributes are shown as becoming unknown, not as removed.
func (x pair) becomingUnknown(o *schema.Object) pair {
	if o.Nesting != schema.NestingSingle && o.Nesting != schema.NestingGroup || presence(x.before) == Nothing {
		return x
	}
	attrs := map[string]cty.Value{}
	for name, a := range o.Attributes {
		attrs[name] = cty.UnknownVal(a.ImpliedType())
	}
	x.after = cty.ObjectVal(attrs)
	return x
}
