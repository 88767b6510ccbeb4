package schema

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/internal/converting"
)

// Coerce converts v, an object, to b's implied type. Optional attributes that are missing become null, and
// missing blocks become empty. If a required attribute is missing, or b does not know an attribute of v, it
// returns an error with a path. Marks stay. It does not check the number of blocks.
func (b *Block) Coerce(v cty.Value) (cty.Value, error) {
	return b.layout().coerce(v, nil)
}

func (l *layout) coerce(in cty.Value, path cty.Path) (cty.Value, error) {
	v, vm := in.Unmark()
	switch {
	case v.IsNull():
		return cty.NullVal(l.ty).WithMarks(vm), nil
	case !v.IsKnown():
		return cty.UnknownVal(l.ty).WithMarks(vm), nil
	case !v.Type().IsObjectType():
		return l.unknown(), path.NewErrorf("an object is required")
	}
	ty := v.Type()
	for _, name := range sortedNames(ty) {
		if l.field(name) == nil && l.nest(name) == nil {
			return l.unknown(), path.NewErrorf("unsupported attribute %q", name)
		}
	}
	vals := make(map[string]cty.Value, len(l.attrs)+len(l.blocks))
	for i := range l.attrs {
		f := &l.attrs[i]
		switch {
		case ty.HasAttribute(f.name):
			c, err := converting.Convert(v.GetAttr(f.name), f.convTy)
			if err != nil {
				return l.unknown(), attr(path, f.name).NewError(err)
			}
			vals[f.name] = c
		case f.Required:
			return l.unknown(), path.NewErrorf("attribute %q is required", f.name)
		default:
			vals[f.name] = f.null
		}
	}
	for i := range l.blocks {
		n := &l.blocks[i]
		if !ty.HasAttribute(n.name) {
			vals[n.name] = n.empty
			continue
		}
		c, err := n.coerce(v.GetAttr(n.name), attr(path, n.name))
		if err != nil {
			return l.unknown(), err
		}
		vals[n.name] = c
	}
	return object(vals).WithMarks(vm), nil
}

func (l *layout) unknown() cty.Value { return cty.UnknownVal(l.ty) }

// coerce converts the combined value of all blocks of n, such as a list of blocks, to the type that it must
// have.
func (n *nest) coerce(in cty.Value, path cty.Path) (cty.Value, error) {
	if n.Nesting == NestingSingle || n.Nesting == NestingGroup {
		return n.in.coerce(in, path)
	}
	v, vm := in.Unmark()
	switch {
	case v.IsNull():
		return cty.NullVal(n.ty).WithMarks(vm), nil
	case !v.IsKnown():
		return cty.UnknownVal(n.ty).WithMarks(vm), nil
	}
	ty := v.Type()
	byName := ty.IsMapType() || ty.IsObjectType()
	if !v.CanIterateElements() || byName != (n.Nesting == NestingMap) {
		return cty.UnknownVal(n.ty), path.NewErrorf("must be a %s", n.Nesting)
	}
	var vals []cty.Value
	for step, e := range n.Nesting.elements(v) {
		c, err := n.in.coerce(e, extend(path, step))
		if err != nil {
			return cty.UnknownVal(n.ty), err
		}
		vals = append(vals, c)
	}
	if len(vals) == 0 {
		return n.empty.WithMarks(vm), nil
	}
	return n.gather(v, vals).WithMarks(vm), nil
}

// gather combines the values of blocks into one collection of the kind n.Nesting, such as a list. For a map,
// like has the keys, in the order of vals.
func (n *nest) gather(like cty.Value, vals []cty.Value) cty.Value {
	switch {
	case n.Nesting == NestingSet:
		return cty.SetVal(vals)
	case n.Nesting == NestingList && n.dynamic:
		return cty.TupleVal(vals)
	case n.Nesting == NestingList:
		return cty.ListVal(vals)
	}
	named := make(map[string]cty.Value, len(vals))
	i := 0
	for it := like.ElementIterator(); it.Next(); i++ {
		k, _ := it.Element()
		named[k.AsString()] = vals[i]
	}
	if n.dynamic {
		return cty.ObjectVal(named)
	}
	return cty.MapVal(named)
}
