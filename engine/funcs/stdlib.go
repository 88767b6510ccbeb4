package funcs

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	"github.com/zclconf/go-cty/cty/gocty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// Terraform 1.11.4 is built with go-cty 1.16.0. Below are the functions of its
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
		return nil // the function itself reports it
	}
	if n := args[0].Type().Length(); n > 0 && index%n < 0 {
		return errors.New("cannot use a negative index with a tuple; convert it with tolist first")
	}
	return nil
})

// Since go-cty 1.16.1 format and formatlist take arguments of no known type as any other; before, those made the whole
// result unknown. That stays so for what is not known. A plain null is known: it is formatted, or an error, as in
// Terraform 1.16. Terraform 1.11.4 plans an unknown value, and fails to apply it.
var (
	formatFunc     = formatting(stdlib.FormatFunc)
	formatListFunc = formatting(stdlib.FormatListFunc)
)

func formatting(f function.Function) function.Function {
	return function.New(&function.Spec{
		Params:       []function.Parameter{text("format")},
		VarParam:     &function.Parameter{Name: "args", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true},
		RefineResult: notNull,
		Type: func(args []cty.Value) (cty.Type, error) {
			if slices.ContainsFunc(args, func(v cty.Value) bool { return v.Type() == cty.DynamicPseudoType && !v.IsKnown() }) {
				return cty.DynamicPseudoType, nil
			}
			return f.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, ty cty.Type) (cty.Value, error) {
			if ty == cty.DynamicPseudoType {
				return cty.DynamicVal, nil
			}
			return f.Call(args)
		},
	})
}

// jsondecode takes the last of several properties of one name, and requires that
// the others fit its type (since go-cty 1.16.2 they must be of the same type).
var jsonDecodeFunc = function.New(&function.Spec{
	Params: stdlib.JSONDecodeFunc.Params(),
	Type: func(args []cty.Value) (cty.Type, error) {
		ty, err := stdlib.JSONDecodeFunc.ReturnTypeForValues(args)
		if err == nil || !strings.HasPrefix(err.Error(), "duplicate ") {
			return ty, err
		}
		var doc any
		d := json.NewDecoder(strings.NewReader(args[0].AsString()))
		d.UseNumber()
		if err := d.Decode(&doc); err != nil {
			return cty.NilType, err
		}
		once, err := json.Marshal(doc)
		if err != nil {
			return cty.NilType, err
		}
		return ctyjson.ImpliedType(once)
	},
	Impl: func(args []cty.Value, ty cty.Type) (cty.Value, error) {
		return ctyjson.Unmarshal([]byte(args[0].AsString()), ty)
	},
})

// Functions that crash in the library on some arguments, and the errors for those.
var (
	indentFunc          = guarded(stdlib.IndentFunc, "the number of spaces must not be negative")
	logFunc             = guarded(stdlib.LogFunc, "the result is not a real number")
	mergeFunc           = guarded(stdlib.MergeFunc, "arguments must be maps or objects")
	powFunc             = guarded(stdlib.PowFunc, "the result is not a real number")
	setIntersectionFunc = guarded(stdlib.SetIntersectionFunc, "given sets must all have compatible element types")
	setSubtractFunc     = guarded(stdlib.SetSubtractFunc, "given sets must all have compatible element types")
	setUnionFunc        = guarded(stdlib.SetUnionFunc, "given sets must all have compatible element types")
	zipmapFunc          = guarded(stdlib.ZipmapFunc, "keys list has a null value")
)

// guarded returns f, whose results are never null, with an error in place of a crash.
func guarded(f function.Function, why string) function.Function {
	answer := func(err error) error {
		if errors.As(err, new(function.PanicError)) {
			return errors.New(why)
		}
		return err
	}
	return function.New(&function.Spec{
		Params:       f.Params(),
		VarParam:     f.VarParam(),
		RefineResult: notNull,
		Type: func(args []cty.Value) (cty.Type, error) {
			ty, err := f.ReturnTypeForValues(args)
			return ty, answer(err)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			v, err := f.Call(args)
			return v, answer(err)
		},
	})
}
