package schema

import (
	"iter"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
)

// elements goes over the blocks or objects in v, which is known and without a
// mark of its own, and how each is reached from v. The one object of
// [NestingSingle] and [NestingGroup] has no step. A null has no elements.
func (n Nesting) elements(v cty.Value) iter.Seq2[cty.PathStep, cty.Value] {
	return func(yield func(cty.PathStep, cty.Value) bool) {
		if v.IsNull() {
			return
		}
		if n == NestingSingle || n == NestingGroup {
			yield(nil, v)
			return
		}
		byName := v.Type().IsObjectType()
		for it := v.ElementIterator(); it.Next(); {
			k, e := it.Element()
			var step cty.PathStep = cty.IndexStep{Key: k}
			if byName {
				step = cty.GetAttrStep{Name: k.AsString()}
			}
			if !yield(step, e) {
				return
			}
		}
	}
}

// extend returns path with step behind it, never sharing memory with another
// extension of path. A nil step adds nothing.
func extend(path cty.Path, step cty.PathStep) cty.Path {
	if step == nil {
		return path
	}
	out := make(cty.Path, len(path)+1)
	copy(out, path)
	out[len(path)] = step
	return out
}

// attr is extend for the attribute of the given name.
func attr(path cty.Path, name string) cty.Path {
	return extend(path, cty.GetAttrStep{Name: name})
}

// rebuild returns the value of type like's kind with the elements vals, which are
// not empty and in the order of like's own, keyed as there. It serves tuples and
// objects, which stand for lists and maps of types that differ, as well.
func rebuild(like cty.Value, vals []cty.Value) cty.Value {
	ty := like.Type()
	switch {
	case ty.IsTupleType():
		return cty.TupleVal(vals)
	case ty.IsListType():
		return cty.ListVal(vals)
	case ty.IsSetType():
		return cty.SetVal(vals)
	}
	named := make(map[string]cty.Value, len(vals))
	i := 0
	for it := like.ElementIterator(); it.Next(); i++ {
		k, _ := it.Element()
		named[k.AsString()] = vals[i]
	}
	if ty.IsObjectType() {
		return cty.ObjectVal(named)
	}
	return cty.MapVal(named)
}

// sortedNames returns the names of ty's attributes in order.
func sortedNames(ty cty.Type) []string {
	return slices.Sorted(maps.Keys(ty.AttributeTypes()))
}
