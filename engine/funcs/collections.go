package funcs

import (
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// lengthFunc is the function length. It counts elements, attributes, or the characters (grapheme clusters) of
// a string. If the exact number is not known, the result is unknown.
var lengthFunc = function.New(&function.Spec{
	Params: []function.Parameter{{
		Name: "value", Type: cty.DynamicPseudoType,
		AllowUnknown: true, AllowMarked: true, AllowDynamicType: true,
	}},
	Type: func(args []cty.Value) (cty.Type, error) {
		ty := args[0].Type()
		if ty == cty.String || ty == cty.DynamicPseudoType || ty.IsCollectionType() || ty.IsTupleType() || ty.IsObjectType() {
			return cty.Number, nil
		}
		return cty.Number, errors.New("argument must be a string, a collection type, or a structural type")
	},
	RefineResult: func(b *cty.RefinementBuilder) *cty.RefinementBuilder {
		return b.NotNull().NumberRangeLowerBound(cty.Zero, true)
	},
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		v, ms := args[0].Unmark()
		ty := v.Type()
		switch {
		case ty == cty.DynamicPseudoType:
			return cty.UnknownVal(cty.Number).WithMarks(ms), nil
		case ty == cty.String:
			n, err := stdlib.Strlen(v)
			return n.WithMarks(ms), err
		case ty.IsObjectType():
			return cty.NumberIntVal(int64(len(ty.AttributeTypes()))).WithMarks(ms), nil
		}
		return v.Length().WithMarks(ms), nil
	},
})

// indexFunc is the function index, which finds an equal element. If an unknown element comes before the equal
// one, the result is unknown, since the unknown element might also be equal.
var indexFunc = function.New(&function.Spec{
	Params:       []function.Parameter{anything("list"), anything("value")},
	Type:         function.StaticReturnType(cty.Number),
	RefineResult: notNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		list := args[0]
		if !list.Type().IsListType() && !list.Type().IsTupleType() {
			return cty.NilVal, errors.New("argument must be a list or tuple")
		}
		if list.LengthInt() == 0 {
			return cty.NilVal, errors.New("cannot search an empty list")
		}
		for i, v := range list.Elements() {
			switch eq := v.Equals(args[1]); {
			case !eq.IsKnown():
				return cty.UnknownVal(cty.Number), nil
			case eq.True():
				return i, nil
			}
		}
		return cty.NilVal, errors.New("item not found")
	},
})

// lookupFunc is the function lookup: a map's element or an object's attribute, otherwise the default.
var lookupFunc = function.New(&function.Spec{
	Params:   []function.Parameter{maybe(marked(anything("inputMap"))), maybe(marked(text("key")))},
	VarParam: &function.Parameter{Name: "default", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowMarked: true, AllowDynamicType: true},
	Type:     lookupType,
	Impl:     lookup,
})

func lookupType(args []cty.Value) (cty.Type, error) {
	if len(args) > 3 {
		return cty.NilType, fmt.Errorf("lookup() takes two or three arguments, got %d", len(args))
	}
	ty := args[0].Type()
	switch {
	case ty.IsObjectType():
		if !args[1].IsKnown() {
			return cty.DynamicPseudoType, nil
		}
		key, ms := args[1].Unmark()
		switch {
		case ty.HasAttribute(key.AsString()):
			return ty.AttributeType(key.AsString()), nil
		case len(args) == 3:
			return args[2].Type(), nil
		}
		return cty.NilType, function.NewArgErrorf(0, "the given object has no attribute %s", shown(key.AsString(), ms))
	case ty.IsMapType():
		if len(args) == 3 {
			if _, err := convert.Convert(args[2], ty.ElementType()); err != nil {
				return cty.NilType, function.NewArgErrorf(2, "the default value must have the same type as the map elements")
			}
		}
		return ty.ElementType(), nil
	}
	return cty.NilType, function.NewArgErrorf(0, "lookup() requires a map as the first argument")
}

func lookup(args []cty.Value, ty cty.Type) (cty.Value, error) {
	m, mapMarks := args[0].Unmark()
	keyVal, keyMarks := args[1].Unmark()
	if !m.IsKnown() || !keyVal.IsKnown() {
		return cty.UnknownVal(ty).WithMarks(mapMarks, keyMarks), nil
	}
	key := keyVal.AsString()
	var found cty.Value
	switch {
	case m.Type().IsObjectType() && m.Type().HasAttribute(key):
		found = m.GetAttr(key)
	case m.Type().IsMapType() && m.HasIndex(keyVal).True():
		found = m.Index(keyVal)
	case len(args) == 3:
		v, err := convert.Convert(args[2], ty)
		if err != nil {
			return cty.NilVal, function.NewArgError(2, err)
		}
		found = v
	default:
		return cty.NilVal, fmt.Errorf("lookup failed to find key %s", shown(key, keyMarks))
	}
	return found.WithMarks(mapMarks, keyMarks), nil
}

// oneFunc is the function one: the only element; null if there is none.
var oneFunc = function.New(&function.Spec{
	Params: []function.Parameter{anything("list")},
	Type: func(args []cty.Value) (cty.Type, error) {
		ty := args[0].Type()
		switch {
		case ty.IsListType(), ty.IsSetType():
			return ty.ElementType(), nil
		case ty.IsTupleType():
			switch etys := ty.TupleElementTypes(); len(etys) {
			case 0:
				return cty.DynamicPseudoType, nil
			case 1:
				return etys[0], nil
			}
		}
		return cty.NilType, errNotOne
	},
	Impl: func(args []cty.Value, ty cty.Type) (cty.Value, error) {
		v := args[0]
		if !v.Length().IsKnown() {
			// The unknown elements of a set may turn out to be a single element.
			return cty.UnknownVal(ty), nil
		}
		switch v.LengthInt() {
		case 0:
			return cty.NullVal(ty), nil
		case 1:
			for _, elem := range v.Elements() {
				return elem, nil
			}
		}
		return cty.NilVal, errNotOne
	},
})

var errNotOne = function.NewArgErrorf(0, "must be a list, set, or tuple value with either zero or one elements")

// sumFunc is the function sum. It accepts lists, sets and tuples, and reads strings as numbers.
var sumFunc = function.New(&function.Spec{
	Params:       []function.Parameter{anything("list")},
	Type:         function.StaticReturnType(cty.Number),
	RefineResult: notNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		list := args[0]
		ty := list.Type()
		if !list.CanIterateElements() {
			return cty.NilVal, function.NewArgErrorf(0, "cannot sum noniterable")
		}
		if list.LengthInt() == 0 {
			return cty.NilVal, function.NewArgErrorf(0, "cannot sum an empty list")
		}
		if !ty.IsListType() && !ty.IsSetType() && !ty.IsTupleType() {
			return cty.NilVal, function.NewArgErrorf(0, "argument must be list, set, or tuple. Received %s", ty.FriendlyName())
		}
		if !list.IsWhollyKnown() {
			return cty.UnknownVal(cty.Number), nil
		}
		total := cty.Zero
		for _, v := range list.Elements() {
			n, err := convert.Convert(v, cty.Number)
			if err != nil || n.IsNull() {
				return cty.NilVal, function.NewArgErrorf(0, "argument must be list, set, or tuple of number values")
			}
			total = total.Add(n)
		}
		return total, nil
	},
})

// allTrueFunc is the function alltrue. Its result is unknown if it meets an unknown element before a false one.
// The function anytrue looks at all elements first.
var allTrueFunc = function.New(&function.Spec{
	Params:       []function.Parameter{{Name: "list", Type: cty.List(cty.Bool)}},
	Type:         function.StaticReturnType(cty.Bool),
	RefineResult: notNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		for _, v := range args[0].Elements() {
			if !v.IsKnown() {
				return cty.UnknownVal(cty.Bool), nil
			}
			if v.IsNull() || v.False() {
				return cty.False, nil
			}
		}
		return cty.True, nil
	},
})

var anyTrueFunc = function.New(&function.Spec{
	Params:       []function.Parameter{{Name: "list", Type: cty.List(cty.Bool)}},
	Type:         function.StaticReturnType(cty.Bool),
	RefineResult: notNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		out := cty.False
		for _, v := range args[0].Elements() {
			if !v.IsKnown() {
				out = cty.UnknownVal(cty.Bool)
			} else if !v.IsNull() && v.True() {
				return cty.True, nil
			}
		}
		return out, nil
	},
})
