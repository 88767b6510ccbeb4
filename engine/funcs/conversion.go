package funcs

import (
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/lockstep-iac/lockstep/engine/internal/converting"
)

// conversionFunc returns tostring, tolist and so on: the explicit conversion to a type. It converts more
// values than an implicit conversion, and has better errors.
func conversionFunc(want cty.Type) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{open("v")},
		Type: func(args []cty.Value) (cty.Type, error) {
			v, err := converting.Ahead(args[0], want)
			if err != nil {
				return cty.NilType, function.NewArgError(0, err)
			}
			got := v.Type()
			if !got.Equals(want) && convert.GetConversionUnsafe(got, want) == nil {
				return cty.NilType, mismatch(args[0].Type(), want)
			}
			return want, nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if !args[0].IsKnown() {
				// The result keeps nothing that is known about the unknown value, not even its type.
				return cty.UnknownVal(want).WithSameMarks(args[0]), nil
			}
			out, err := converting.Convert(args[0], want)
			if err != nil {
				return cty.NilVal, refusal(args[0], want)
			}
			return out, nil
		},
	})
}

// mismatch returns the error for a type whose values can never be converted to want.
func mismatch(got, want cty.Type) error {
	return function.NewArgErrorf(0, "cannot convert %s to %s", got.FriendlyName(), want.FriendlyNameForConstraint())
}

// refusal returns the error for a value that cannot be converted. It does not show a secret value.
func refusal(v cty.Value, want cty.Type) error {
	v, ms := v.UnmarkDeep()
	got := v.Type()
	if kind := secret(ms); kind != "" {
		return function.NewArgErrorf(0, "cannot convert this %s %s to %s", kind, got.FriendlyName(), want.FriendlyNameForConstraint())
	}
	if got != cty.String || v.IsNull() {
		return mismatch(got, want)
	}
	switch want {
	case cty.Bool:
		return function.NewArgErrorf(0, `cannot convert %q to bool; only the strings "true" or "false" are allowed`, v.AsString())
	case cty.Number:
		return function.NewArgErrorf(0, `cannot convert %q to number; given string must be a decimal representation of a number`, v.AsString())
	}
	return mismatch(got, want)
}

// coalesceFunc is the function coalesce: the first argument that is neither null nor the empty string. An
// unknown argument may be null or empty, so the result is then unknown.
var coalesceFunc = function.New(&function.Spec{
	VarParam: &function.Parameter{
		Name: "vals", Type: cty.DynamicPseudoType,
		AllowNull: true, AllowUnknown: true, AllowDynamicType: true,
	},
	Type: func(args []cty.Value) (cty.Type, error) {
		types := make([]cty.Type, len(args))
		for i, v := range args {
			types[i] = v.Type()
		}
		ty, _ := convert.UnifyUnsafe(types)
		if ty == cty.NilType {
			return cty.NilType, errors.New("all arguments must have the same type")
		}
		return ty, nil
	},
	RefineResult: notNull,
	Impl: func(args []cty.Value, ty cty.Type) (cty.Value, error) {
		for i, arg := range args {
			v, err := convert.Convert(arg, ty)
			if err != nil {
				return cty.NilVal, function.NewArgError(i, err)
			}
			if !v.IsKnown() {
				return cty.UnknownVal(ty), nil
			}
			if v.IsNull() || v.Type() == cty.String && v.AsString() == "" {
				continue
			}
			return v, nil
		}
		return cty.NilVal, errors.New("no non-null, non-empty-string arguments")
	},
})

// removedFunc returns a function that always fails. It takes the place of a function of older versions, and
// its error names the replacement.
func removedFunc(name, instead string) function.Function {
	kind := name
	return function.New(&function.Spec{
		VarParam: &function.Parameter{Name: "vals", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true},
		Type: func([]cty.Value) (cty.Type, error) {
			return cty.NilType, fmt.Errorf("the %q function was deprecated in Terraform v0.12 and is no longer available; use %s syntax to write a literal %s", name, instead, kind)
		},
		Impl: func([]cty.Value, cty.Type) (cty.Value, error) {
			panic("called although its type cannot be")
		},
	})
}
