package funcs

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/internal/converting"
)

// Below are the functions of go-cty's stdlib that behave otherwise than people expect, or that crash.

// containsFunc is the function contains. It also finds null. In go-cty since 1.18.1 the literal null makes
// the result unknown: Terraform 1.16 plans "(known after apply)", and then has null.
var containsFunc = function.New(&function.Spec{
	Params: []function.Parameter{anything("list"), {Name: "value", Type: cty.DynamicPseudoType, AllowNull: true, AllowDynamicType: true}},
	Type:   function.StaticReturnType(cty.Bool),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		list, value := args[0], args[1]
		if !value.IsKnown() || !value.IsNull() {
			return stdlib.ContainsFunc.Call(args)
		}
		if !list.CanIterateElements() || list.Type().IsMapType() || list.Type().IsObjectType() {
			return stdlib.ContainsFunc.Call([]cty.Value{list, cty.NullVal(cty.String)})
		}
		for it := list.ElementIterator(); it.Next(); {
			if _, x := it.Element(); !x.IsKnown() {
				return cty.UnknownVal(cty.Bool), nil
			} else if x.IsNull() {
				return cty.True, nil
			}
		}
		return cty.False, nil
	},
	RefineResult: notNull,
})

// convertFunc is the function convert. Its second argument is a type constraint: see [converting.Target].
var convertFunc = function.New(&function.Spec{
	Params: []function.Parameter{open("value"), {Name: "type", Type: converting.TargetType}},
	Type: func(args []cty.Value) (cty.Type, error) {
		v, err := convertTo(args[0], args[1])
		return v.Type(), err
	},
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		return convertTo(args[0], args[1])
	},
})

func convertTo(v, target cty.Value) (cty.Value, error) {
	if !target.IsKnown() || target.IsNull() {
		return cty.DynamicVal, function.NewArgErrorf(1, "a type constraint is required, such as list(string)")
	}
	out, err := target.EncapsulatedValue().(*converting.Target).Convert(v)
	if err != nil {
		return cty.DynamicVal, function.NewArgError(0, err)
	}
	return out, nil
}

// format and formatlist differ between versions of go-cty. Before 1.16.1, an argument of unknown type made
// the whole result unknown; since then it is treated like any other. Here, an unknown argument of unknown
// type still makes the whole result unknown. A plain null is known: it is formatted, or an error, as in
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

// jsonDecodeFunc is the function jsondecode. If a property occurs several times, the last value counts. The
// earlier values must be convertible to the type of the last (since go-cty 1.16.2 they must have the same
// type).
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

// These functions crash in the library for some arguments. The texts are the errors for those cases.
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

// guarded returns a function that does the same as f. Where f crashes, the function returns an error with the
// text of the parameter why. The results of f are never null.
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
