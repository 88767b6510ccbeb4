// Package converting converts values like go-cty, but avoids a conversion whose cost is the square of the
// number of elements. To make a list of a tuple whose elements may have any type, go-cty compares the type of
// each element with the types of all others, and stores each result: 100,000 elements take a minute, or 40
// GB. But most elements have the same type, so comparing the different types is enough.
//
// It refuses to know what values are used for. Start at [Convert].
package converting

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// Convert returns the same as [convert.Convert], but is fast for large values.
func Convert(v cty.Value, want cty.Type) (cty.Value, error) {
	v, err := Ahead(v, want)
	if err != nil {
		return cty.NilVal, err
	}
	return convert.Convert(v, want)
}

// few is the largest number of elements whose conversion is left to go-cty.
const few = 64

// maxTypes is the largest number of different types that the elements of a large value may have.
const maxTypes = 1000

// Ahead does in advance the part of a conversion for which go-cty is too slow, and returns the result. want
// is the type to convert to. If go-cty is fast enough for a value, Ahead returns the value unchanged. It
// returns an error if the elements have too many different types.
func Ahead(v cty.Value, want cty.Type) (cty.Value, error) {
	if want == cty.DynamicPseudoType || want.IsPrimitiveType() || v == cty.NilVal || v.IsNull() || !v.IsKnown() || !want.HasDynamicTypes() {
		return v, nil
	}
	plain, marks := v.Unmark()
	out, err := ahead(plain, want)
	if err != nil {
		return cty.NilVal, err
	}
	return out.WithMarks(marks), nil
}

func ahead(v cty.Value, want cty.Type) (cty.Value, error) {
	ty := v.Type()
	switch {
	case want.IsCollectionType() && want.ElementType() == cty.DynamicPseudoType:
		if large := ty.IsTupleType() || ty.IsObjectType() && want.IsMapType(); large && v.LengthInt() > few {
			return alike(v)
		}
	case want.IsCollectionType() && (ty.IsTupleType() || ty.IsObjectType()):
		return each(v, func(string) cty.Type { return want.ElementType() })
	case want.IsObjectType() && ty.IsObjectType():
		return each(v, func(name string) cty.Type {
			if want.HasAttribute(name) {
				return want.AttributeType(name)
			}
			return cty.DynamicPseudoType
		})
	}
	return v, nil
}

// each applies Ahead to the elements of a tuple or an object. want returns the type that the element with this
// name should have; name is "" for the elements of a tuple.
func each(v cty.Value, want func(name string) cty.Type) (cty.Value, error) {
	if v.LengthInt() == 0 {
		return v, nil
	}
	if v.Type().IsTupleType() {
		var list []cty.Value
		for _, el := range v.Elements() {
			el, err := Ahead(el, want(""))
			if err != nil {
				return cty.NilVal, err
			}
			list = append(list, el)
		}
		return cty.TupleVal(list), nil
	}
	attrs := v.AsValueMap()
	for name, el := range attrs {
		el, err := Ahead(el, want(name))
		if err != nil {
			return cty.NilVal, err
		}
		attrs[name] = el
	}
	return cty.ObjectVal(attrs), nil
}

// alike converts a tuple to a list, or an object to a map. The elements get the type that all of them can be
// converted to. If there is no such type, the result is a value for which go-cty returns the error.
func alike(v cty.Value) (cty.Value, error) {
	types, err := different(v)
	if err != nil {
		return cty.NilVal, err
	}
	common, _ := convert.UnifyUnsafe(types)
	if common == cty.NilType || common == cty.DynamicPseudoType && len(types) > 1 {
		return representative(v, types), nil
	}
	isTuple := v.Type().IsTupleType()
	var list []cty.Value
	attrs := map[string]cty.Value{}
	for k, el := range v.Elements() {
		el, err := convert.Convert(el, common)
		if err != nil {
			return v, nil // go-cty reports the error
		}
		if isTuple {
			list = append(list, el)
		} else {
			attrs[k.AsString()] = el
		}
	}
	if isTuple {
		return cty.ListVal(list), nil
	}
	return cty.MapVal(attrs), nil
}

// representative returns a value with only the first element of each type. go-cty reports the same error for
// it as for the whole value: that there is no common type.
func representative(v cty.Value, types []cty.Type) cty.Value {
	var list []cty.Value
	attrs := map[string]cty.Value{}
	for k, el := range v.Elements() {
		if len(types) == 0 {
			break
		}
		if !el.Type().Equals(types[0]) {
			continue
		}
		types = types[1:]
		list = append(list, el)
		if k.Type() == cty.String {
			attrs[k.AsString()] = el
		}
	}
	if v.Type().IsTupleType() {
		return cty.TupleVal(list)
	}
	return cty.ObjectVal(attrs)
}

// different returns the types of the elements, each once, in the order of their first element.
func different(v cty.Value) ([]cty.Type, error) {
	var types []cty.Type
	last := cty.NilType
next:
	for _, el := range v.Elements() {
		ty := el.Type()
		if last != cty.NilType && ty.Equals(last) {
			continue
		}
		last = ty
		for _, other := range types {
			if ty.Equals(other) {
				continue next
			}
		}
		if types = append(types, ty); len(types) > maxTypes {
			return nil, fmt.Errorf("the %d elements are of more than %d different types, which cannot be compared in time", v.LengthInt(), maxTypes)
		}
	}
	return types, nil
}
