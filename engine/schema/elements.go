package schema

import (
	"iter"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
)

// elements iterates over the blocks or objects in v, with the step that leads to each from v. v must be known
// and have no mark of its own. The one object of [NestingSingle] and [NestingGroup] has a nil step. A null v
// has no elements.
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

// extend returns path with step appended. It never shares memory with another extension of path. A nil step
// adds nothing.
func extend(path cty.Path, step cty.PathStep) cty.Path {
	if step == nil {
		return path
	}
	out := make(cty.Path, len(path)+1)
	copy(out, path)
	out[len(path)] = step
	return out
}

// attr returns path extended by the attribute name.
func attr(path cty.Path, name string) cty.Path {
	return extend(path, cty.GetAttrStep{Name: name})
}

// rebuild returns a copy of a collection with other elements: vals, which are in the order of the old
// elements and not empty. The copy has the same kind and the same keys. rebuild also accepts tuples and
// objects, which replace lists and maps whose elements differ in type.
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

// sortedNames returns the names of ty's attributes, sorted.
func sortedNames(ty cty.Type) []string {
	return slices.Sorted(maps.Keys(ty.AttributeTypes()))
}
