package schema

import "github.com/zclconf/go-cty/cty"

// ImpliedType returns the object type of the values that b describes. Nested
// blocks whose own type depends on their content (because an attribute
// within has no fixed type) are [cty.DynamicPseudoType]: a tuple or an object
// stands there.
func (b *Block) ImpliedType() cty.Type { return b.layout().ty }

// ContainsSensitive reports whether anything within b is declared sensitive.
func (b *Block) ContainsSensitive() bool { return b.layout().sensitive }

// ContainsWriteOnly reports whether anything within b is write-only.
func (b *Block) ContainsWriteOnly() bool { return b.layout().writeOnly }

// ImpliedType returns the type of all the objects of o together: an object, or a
// list, set or map of objects.
func (o *Object) ImpliedType() cty.Type {
	return o.Nesting.of(newObjectLayout(o).ty)
}

// ImpliedType returns the type of the attribute's values.
func (a *Attribute) ImpliedType() cty.Type {
	if a.Nested != nil {
		return a.Nested.ImpliedType()
	}
	return a.Type.WithoutOptionalAttributesDeep()
}

// ImpliedType returns the type of all the blocks of n together.
func (n *NestedBlock) ImpliedType() cty.Type {
	ty := n.Block.ImpliedType()
	if (n.Nesting == NestingList || n.Nesting == NestingMap) && ty.HasDynamicTypes() {
		return cty.DynamicPseudoType
	}
	return n.Nesting.of(ty)
}

// EmptyValue returns the value of a body in which nothing is written: attributes
// null, no blocks.
func (b *Block) EmptyValue() cty.Value { return b.layout().emptyValue() }

// NullValue returns the null of b's implied type.
func (b *Block) NullValue() cty.Value { return cty.NullVal(b.layout().ty) }

// EmptyValue returns the value of n where no such block is written.
func (n *NestedBlock) EmptyValue() cty.Value {
	x := nest{NestedBlock: n, in: n.Block.layout()}
	x.dynamic = x.in.ty.HasDynamicTypes()
	return x.emptyValue()
}

func (l *layout) emptyValue() cty.Value {
	vals := make(map[string]cty.Value, len(l.attrs)+len(l.blocks))
	for i := range l.attrs {
		vals[l.attrs[i].name] = l.attrs[i].null
	}
	for i := range l.blocks {
		vals[l.blocks[i].name] = l.blocks[i].empty
	}
	return object(vals)
}

func (n *nest) emptyValue() cty.Value {
	ty := n.in.ty
	switch n.Nesting {
	case NestingSingle:
		return cty.NullVal(ty)
	case NestingGroup:
		return n.in.emptyValue()
	case NestingList:
		if n.dynamic {
			return cty.EmptyTupleVal
		}
		return cty.ListValEmpty(ty)
	case NestingSet:
		return cty.SetValEmpty(ty)
	case NestingMap:
		if n.dynamic {
			return cty.EmptyObjectVal
		}
		return cty.MapValEmpty(ty)
	}
	panic("schema: invalid nesting")
}

// AllAttributesNull reports whether every attribute of v, a known value of b's
// implied type, is null, in nested blocks as well. How many blocks there are does
// not count.
func (b *Block) AllAttributesNull(v cty.Value) bool { return b.layout().allNull(v) }

func (l *layout) allNull(v cty.Value) bool {
	v, _ = v.Unmark()
	if v.IsNull() {
		return true
	}
	if !v.IsKnown() {
		return false
	}
	for i := range l.attrs {
		if !v.GetAttr(l.attrs[i].name).IsNull() {
			return false
		}
	}
	for i := range l.blocks {
		n := &l.blocks[i]
		blocks, _ := v.GetAttr(n.name).Unmark()
		if !blocks.IsKnown() {
			return false
		}
		for _, e := range n.Nesting.elements(blocks) {
			if !n.in.allNull(e) {
				return false
			}
		}
	}
	return true
}

// object is [cty.ObjectVal], with the one empty object for no attributes.
func object(vals map[string]cty.Value) cty.Value {
	if len(vals) == 0 {
		return cty.EmptyObjectVal
	}
	return cty.ObjectVal(vals)
}
