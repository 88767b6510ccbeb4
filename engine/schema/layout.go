package schema

import (
	"maps"
	"slices"
	"sync"

	"github.com/zclconf/go-cty/cty"
)

// A layout is a Block or an Object prepared for fast use: sorted names, ready types and nulls, and flags that
// tell which parts exist. All functions in this package that go through a value use a layout, so that an
// order never depends on a map, and a type is never computed twice.
type layout struct {
	attrs  []field
	blocks []nest
	// ty is the type of a value. convTy is the same type with its optional attributes marked as optional, for
	// converting configuration.
	ty, convTy cty.Type
	// object is true for the layout of an Object, false for a Block.
	object bool

	// Each flag is set if an attribute here, or in any nested block or object inside, has the property.
	sensitive, writeOnly, computed, echoes bool
	// structured is set if there are nested blocks or nested objects at this level.
	structured bool
	// modern is set if anything inside cannot come from the legacy SDK. either is set if an attribute at this
	// level may be written as blocks (see blockattr.go).
	modern, either bool

	// asAttrs is the schema for a body in which all attributes are written as attributes. asBlocks is the
	// schema for a body in which attributes that may be blocks are written as blocks.
	asAttrs, asBlocks bodySchemas
}

// A field is an attribute in a layout.
type field struct {
	*Attribute
	name       string
	ty, convTy cty.Type
	null       cty.Value
	unknown    cty.Value
	// object is the layout of one object of a nested attribute; nil for other attributes.
	object *layout
	// element returns the layout of blocks written instead of this attribute. It is nil if there can be no
	// such blocks (see blockattr.go).
	element func() *layout
}

// A nest is one kind of nested block in a layout.
type nest struct {
	*NestedBlock
	name string
	in   *layout
	// ty is the type of all blocks of this kind together: [cty.DynamicPseudoType] if dynamic.
	ty cty.Type
	// dynamic is set if the type of a block depends on its content. Then lists are tuples and maps are
	// objects.
	dynamic bool
	empty   cty.Value
}

// layout returns the compiled form of b.
func (b *Block) layout() *layout {
	b.once.layout.Do(func() { b.layoutCache = newBlockLayout(b) })
	return b.layoutCache
}

func newBlockLayout(b *Block) *layout {
	l := &layout{}
	l.addAttributes(b.Attributes)
	for _, name := range slices.Sorted(maps.Keys(b.Blocks)) {
		if _, taken := b.Attributes[name]; !taken { // a block and an attribute of one name: Check reports it
			l.addBlock(name, b.Blocks[name])
		}
	}
	l.finish()
	return l
}

func newObjectLayout(o *Object) *layout {
	l := &layout{object: true}
	l.addAttributes(o.Attributes)
	l.finish()
	return l
}

func (l *layout) addAttributes(attrs map[string]*Attribute) {
	l.attrs = make([]field, 0, len(attrs))
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		a := attrs[name]
		f := field{Attribute: a, name: name}
		if a.Nested != nil {
			f.object = newObjectLayout(a.Nested)
			f.ty = a.Nested.Nesting.collectionType(f.object.ty)
			f.convTy = a.Nested.Nesting.collectionType(f.object.convTy)
			l.sensitive = l.sensitive || f.object.sensitive
			l.writeOnly = l.writeOnly || f.object.writeOnly
			l.computed = l.computed || f.object.computed
			l.structured, l.modern = true, true
		} else {
			l.modern = l.modern || !fromLegacySDK(a.Type)
			f.ty, f.convTy = a.Type.WithoutOptionalAttributesDeep(), a.Type
			if mayBeBlocks(a.Type) {
				l.either = true
				f.element = sync.OnceValue(func() *layout { return elementLayout(a.Type.ElementType()) })
			}
		}
		f.null, f.unknown = cty.NullVal(f.ty), cty.UnknownVal(f.ty)
		l.sensitive = l.sensitive || a.Sensitive
		l.writeOnly = l.writeOnly || a.WriteOnly
		l.computed = l.computed || a.Computed
		l.echoes = l.echoes || a.Echoes != ""
		l.attrs = append(l.attrs, f)
	}
}

func (l *layout) addBlock(name string, nb *NestedBlock) {
	n := nest{NestedBlock: nb, name: name, in: nb.Block.layout()}
	single := nb.Nesting == NestingSingle || nb.Nesting == NestingGroup
	n.dynamic = !single && nb.Nesting != NestingSet && n.in.ty.HasDynamicTypes()
	if n.dynamic {
		n.ty = cty.DynamicPseudoType
	} else {
		n.ty = nb.Nesting.collectionType(n.in.ty)
	}
	n.empty = n.emptyValue()
	l.sensitive = l.sensitive || n.in.sensitive
	l.writeOnly = l.writeOnly || n.in.writeOnly
	l.computed = l.computed || n.in.computed
	l.modern = l.modern || n.in.modern
	l.structured = true
	l.blocks = append(l.blocks, n)
}

// finish computes the fields that follow from the attributes and blocks.
func (l *layout) finish() {
	types := make(map[string]cty.Type, len(l.attrs)+len(l.blocks))
	convTypes := make(map[string]cty.Type, len(l.attrs)+len(l.blocks))
	var optional []string
	for _, f := range l.attrs {
		types[f.name], convTypes[f.name] = f.ty, f.convTy
		if l.object && (f.Optional || f.Computed) {
			optional = append(optional, f.name)
		}
	}
	for _, n := range l.blocks {
		types[n.name], convTypes[n.name] = n.ty, n.ty
	}
	l.ty = cty.Object(types)
	l.convTy = cty.ObjectWithOptionalAttrs(convTypes, optional)
	if !l.object {
		l.asAttrs = l.bodySchemas(func(*field) bool { return false })
		l.asBlocks = l.bodySchemas(func(f *field) bool { return f.element != nil })
	}
}

// collectionType returns the type of all values of type ty together, such as a list of ty.
func (n Nesting) collectionType(ty cty.Type) cty.Type {
	switch n {
	case NestingSingle, NestingGroup:
		return ty
	case NestingList:
		return cty.List(ty)
	case NestingSet:
		return cty.Set(ty)
	case NestingMap:
		return cty.Map(ty)
	}
	panic("schema: invalid nesting")
}

// String returns the name of n in the provider protocol, in lower case.
func (n Nesting) String() string {
	switch n {
	case NestingSingle:
		return "single"
	case NestingGroup:
		return "group"
	case NestingList:
		return "list"
	case NestingSet:
		return "set"
	case NestingMap:
		return "map"
	}
	return "invalid"
}
