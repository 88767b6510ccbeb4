package funcs

import (
	"cmp"
	"errors"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
)

func listOfAny(name string) function.Parameter {
	return function.Parameter{Name: name, Type: cty.List(cty.DynamicPseudoType)}
}

// matchKeysFunc is the function matchkeys: the values whose key, at the same index, is in the search set.
var matchKeysFunc = function.New(&function.Spec{
	Params: []function.Parameter{listOfAny("values"), listOfAny("keys"), listOfAny("searchset")},
	Type: func(args []cty.Value) (cty.Type, error) {
		if ty, _ := convert.UnifyUnsafe([]cty.Type{args[1].Type(), args[2].Type()}); ty == cty.NilType {
			return cty.NilType, errors.New("keys and searchset must be of the same type")
		}
		return args[0].Type(), nil
	},
	RefineResult: notNull,
	Impl: func(args []cty.Value, ty cty.Type) (cty.Value, error) {
		values := args[0]
		if values.LengthInt() != args[1].LengthInt() {
			return cty.NilVal, errors.New("length of keys and values should be equal")
		}
		common, _ := convert.UnifyUnsafe([]cty.Type{args[1].Type(), args[2].Type()})
		keys, err := convert.Convert(args[1], common)
		if err != nil {
			return cty.NilVal, err
		}
		wanted, err := convert.Convert(args[2], common)
		if err != nil {
			return cty.NilVal, err
		}
		if wanted.LengthInt() == 0 {
			return cty.ListValEmpty(ty.ElementType()), nil
		}
		if !values.IsWhollyKnown() || !keys.IsWhollyKnown() {
			return cty.UnknownVal(ty), nil
		}
		var out []cty.Value
		for i, key := range keys.Elements() {
			for _, w := range wanted.Elements() {
				eq := key.Equals(w)
				if !eq.IsKnown() {
					return cty.UnknownVal(ty), nil
				}
				if eq.True() {
					out = append(out, values.Index(i))
					break
				}
			}
		}
		if len(out) == 0 {
			return cty.ListValEmpty(ty.ElementType()), nil
		}
		return cty.ListVal(out), nil
	},
})

// transposeFunc is the function transpose. It swaps keys and values of a map of lists of strings.
var transposeFunc = function.New(&function.Spec{
	Params:       []function.Parameter{{Name: "values", Type: cty.Map(cty.List(cty.String))}},
	Type:         function.StaticReturnType(cty.Map(cty.List(cty.String))),
	RefineResult: notNull,
	Impl: func(args []cty.Value, ty cty.Type) (cty.Value, error) {
		if !args[0].IsWhollyKnown() {
			return cty.UnknownVal(ty), nil
		}
		byValue := map[string][]cty.Value{}
		for key, list := range args[0].Elements() {
			if list.IsNull() {
				return cty.NilVal, errors.New("input must not contain null list")
			}
			for _, v := range list.Elements() {
				if v.IsNull() {
					return cty.NilVal, errors.New("input list must not contain null string")
				}
				byValue[v.AsString()] = append(byValue[v.AsString()], key)
			}
		}
		if len(byValue) == 0 {
			return cty.MapValEmpty(ty.ElementType()), nil
		}
		out := make(map[string]cty.Value, len(byValue))
		for v, keys := range byValue {
			slices.SortFunc(keys, func(a, b cty.Value) int { return cmp.Compare(a.AsString(), b.AsString()) })
			out[v] = cty.ListVal(keys)
		}
		return cty.MapVal(out), nil
	},
})
