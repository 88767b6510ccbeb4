package funcs

import (
	"errors"
	"maps"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	"github.com/zclconf/go-cty/cty/gocty"

	"github.com/lockstep-iac/lockstep/engine/language"
)

// of returns the functions of table as they are in a version of the language.
func of(v language.Version, table map[string]function.Function) map[string]function.Function {
	if v == language.Newest {
		return table
	}
	table = maps.Clone(table)
	delete(table, "convert") // since Terraform 1.15
	maps.Copy(table, older)
	return table
}

// older are functions that have become more permissive since Terraform 1.11.4, as they were there.
var older = map[string]function.Function{
	"contains": narrowed(stdlib.ContainsFunc, function.Spec{
		Params:       []function.Parameter{anything("list"), anything("value")},
		RefineResult: notNull,
	}, nil),
	"element": narrowed(stdlib.ElementFunc, function.Spec{
		Params: []function.Parameter{marked(anything("list")), number("index")},
	}, noNegativeIndex),
	"format":     narrowed(stdlib.FormatFunc, formatSpec, nil),
	"formatlist": narrowed(stdlib.FormatListFunc, formatSpec, nil),
	"signum": narrowed(stdlib.SignumFunc, function.Spec{
		Params: []function.Parameter{number("num")}, RefineResult: notNull,
	}, func(args []cty.Value) error {
		if !args[0].IsKnown() {
			return nil
		}
		var n int
		return gocty.FromCtyValue(args[0], &n)
	}),
}

// formatSpec describes format and formatlist. A plain null, which has no type, makes the result unknown.
var formatSpec = function.Spec{
	Params:       []function.Parameter{text("format")},
	VarParam:     &function.Parameter{Name: "args", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true},
	RefineResult: notNull,
}

// noNegativeIndex returns an error if element would count from the end of a tuple. It does so for lists only.
func noNegativeIndex(args []cty.Value) error {
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
}

// narrowed returns f with the parameters of spec. If check is not nil, it can refuse the arguments.
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
