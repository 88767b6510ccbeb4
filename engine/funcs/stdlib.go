package funcs

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	"github.com/zclconf/go-cty/cty/gocty"
)

// Terraform 1.11.4 is built with go-cty 1.16.0. What follows are functions of its
// stdlib that behave otherwise in the version we build with, or that crash.

// narrowed returns f behind other parameters and a check that comes first.
func narrowed(f function.Function, spec function.Spec, check func(args []cty.Value) error) function.Function {
	spec.Type = func(args []cty.Value) (cty.Type, error) {
		if check != nil {
			if err := check(args); err != nil {
				return cty.NilType, err
			}
		}
		return f.ReturnTypeForValues(args)
	}
	spec.Impl = func(args []cty.Value, _ cty.Type) (cty.Value, error) { return f.Call(args) }
	return function.New(&spec)
}

// contains may not be asked for null (go-cty 1.18.1 allows it).
var containsFunc = narrowed(stdlib.ContainsFunc, function.Spec{
	Params:       []function.Parameter{anything("list"), anything("value")},
	RefineResult: notNull,
}, nil)

// element counts from the end of a list, but not of a tuple (since go-cty 1.16.2).
var elementFunc = narrowed(stdlib.ElementFunc, function.Spec{
	Params: []function.Parameter{marked(anything("list")), number("index")},
}, func(args []cty.Value) error {
	if !args[0].Type().IsTupleType() || !args[1].IsKnown() {
		return nil
	}
	var index int
	if err := gocty.FromCtyValue(args[1], &index); err != nil {
		return nil // the function itself says so
	}
	if n := args[0].Type().Length(); n > 0 && index%n < 0 {
		return errors.New("cannot use a negative index with a tuple; convert it with tolist first")
	}
	return nil
})

// Since go-cty 1.16.1 format and formatlist take arguments of no known type, such
// as a plain null, as any other; before, those made the whole result unknown.
var (
	formatArgs = function.Parameter{
		Name: "args", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true,
	}
	formatFunc = narrowed(stdlib.FormatFunc, function.Spec{
		Params: []function.Parameter{text("format")}, VarParam: &formatArgs, RefineResult: notNull,
	}, nil)
	formatListFunc = narrowed(stdlib.FormatListFunc, function.Spec{
		Params: []function.Parameter{text("format")}, VarParam: &formatArgs, RefineResult: notNull,
	}, nil)
)

// merge crashes where a null of no known type hides that another argument is no map.
var mergeFunc = narrowed(stdlib.MergeFunc, function.Spec{
	VarParam:     stdlib.MergeFunc.VarParam(),
	RefineResult: notNull,
}, func(args []cty.Value) error {
	if slices.ContainsFunc(args, func(v cty.Value) bool { return !v.IsKnown() }) {
		return nil
	}
	for _, v := range args {
		v, _ = v.Unmark()
		ty := v.Type()
		if v.IsNull() || ty.IsMapType() || ty.IsObjectType() || v.CanIterateElements() && v.LengthInt() == 0 {
			continue
		}
		return fmt.Errorf("arguments must be maps or objects, got %q", ty.FriendlyName())
	}
	return nil
})

// indent crashes on a negative number of spaces.
var indentFunc = narrowed(stdlib.IndentFunc, function.Spec{
	Params: stdlib.IndentFunc.Params(), RefineResult: notNull,
}, func(args []cty.Value) error {
	if args[0].IsKnown() && args[0].LessThan(cty.Zero).True() {
		return function.NewArgErrorf(0, "the number of spaces must not be negative")
	}
	return nil
})

// zipmap crashes on a null key where the values are a list.
var zipmapFunc = narrowed(stdlib.ZipmapFunc, function.Spec{
	Params: stdlib.ZipmapFunc.Params(), RefineResult: notNull,
}, func(args []cty.Value) error {
	keys, _ := args[0].UnmarkDeep()
	if !keys.IsWhollyKnown() {
		return nil
	}
	for i, key := range keys.AsValueSlice() {
		if key.IsNull() {
			return fmt.Errorf("keys list has null value at index %d", i)
		}
	}
	return nil
})

// log and pow crash in the library where the result is not a number.
var (
	logFunc = realFunc(stdlib.LogFunc, func(num, base float64) float64 { return math.Log(num) / math.Log(base) })
	powFunc = realFunc(stdlib.PowFunc, math.Pow)
)

func realFunc(f function.Function, formula func(a, b float64) float64) function.Function {
	return narrowed(f, function.Spec{Params: f.Params(), RefineResult: notNull}, func(args []cty.Value) error {
		if !args[0].IsKnown() || !args[1].IsKnown() {
			return nil
		}
		a, _ := args[0].AsBigFloat().Float64()
		b, _ := args[1].AsBigFloat().Float64()
		if math.IsNaN(formula(a, b)) {
			return errors.New("the result is not a real number")
		}
		return nil
	})
}
