package schema

import "github.com/zclconf/go-cty/cty"

// ImpliedType returns the object type of the values that b describes. Nested blocks whose type depends on
// their content (because an attribute inside has no fixed type) are [cty.DynamicPseudoType]: their value is a
// tuple or an object.
func (b *Block) ImpliedType() cty.Type { return b.layout().ty }

// ContainsSensitive reports whether any attribute inside b is declared sensitive.
func (b *Block) ContainsSensitive() bool { return b.layout().sensitive }

// ContainsWriteOnly reports whether any attribute inside b is write-only.
func (b *Block) ContainsWriteOnly() bool { return b.layout().writeOnly }

// ImpliedType returns the type of all objects of o together: an object, or a list, set or map of objects.
func (o *Object) ImpliedType() cty.Type {
	return o.Nesting.collectionType(newObjectLayout(o).ty)
}

// ImpliedType returns the type of the attribute's values.
func (a *Attribute) ImpliedType() cty.Type {
	if a.Nested != nil {
		return a.Nested.ImpliedType()
	}
	return a.Type.WithoutOptionalAttributesDeep()
}

// ImpliedType returns the type of all blocks of n together.
func (n *NestedBlock) ImpliedType() cty.Type {
	ty := n.Block.ImpliedType()
	if (n.Nesting == NestingList || n.Nesting == NestingMap) && ty.HasDynamicTypes() {
		return cty.DynamicPseudoType
	}
	return n.Nesting.collectionType(ty)
}

// EmptyValue returns the value of an empty body: all attributes null, no blocks.
func (b *Block) EmptyValue() cty.Value { return b.layout().emptyValue() }

// NullValue returns the null of b's implied type.
func (b *Block) NullValue() cty.Value { return cty.NullVal(b.layout().ty) }

// EmptyValue returns the value of n if the body has no such block.
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

// AllAttributesNull reports whether every attribute of v, a known value of b's implied type, is null, also in
// nested blocks. There may be any number of blocks.
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

// object returns the same as [cty.ObjectVal]. All objects without attributes share one value.
func object(vals map[string]cty.Value) cty.Value {
	if len(vals) == 0 {
		return cty.EmptyObjectVal
	}
	return cty.ObjectVal(vals)
}
