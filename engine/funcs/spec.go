package funcs

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// text, number and anything return parameters that accept no null. The function never sees unknown values or
// marks while it computes a result: cty handles these itself.
func text(name string) function.Parameter {
	return function.Parameter{Name: name, Type: cty.String}
}

func number(name string) function.Parameter {
	return function.Parameter{Name: name, Type: cty.Number}
}

func anything(name string) function.Parameter {
	return function.Parameter{Name: name, Type: cty.DynamicPseudoType}
}

// open returns a parameter that accepts every value: null, unknown, marked, or of unknown type.
func open(name string) function.Parameter {
	return function.Parameter{
		Name: name, Type: cty.DynamicPseudoType,
		AllowNull: true, AllowUnknown: true, AllowMarked: true, AllowDynamicType: true,
	}
}

// marked returns p with one change: the function receives the value with its marks, and must add them to its
// result.
func marked(p function.Parameter) function.Parameter {
	p.AllowMarked = true
	return p
}

// maybe returns p with one change: the function is also called if the value is unknown.
func maybe(p function.Parameter) function.Parameter {
	p.AllowUnknown = true
	return p
}

func notNull(b *cty.RefinementBuilder) *cty.RefinementBuilder { return b.NotNull() }

// stringFunc returns f as a function of the language, from strings to a string that is never null.
func stringFunc(f func(args []string) (string, error), params ...function.Parameter) function.Function {
	return function.New(&function.Spec{
		Params:       params,
		Type:         function.StaticReturnType(cty.String),
		RefineResult: notNull,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			in := make([]string, len(args))
			for i, arg := range args {
				in[i] = arg.AsString()
			}
			out, err := f(in)
			if err != nil {
				return cty.NilVal, err
			}
			return cty.StringVal(out), nil
		},
	})
}

// predicate returns f as a function of the language, with the parameters a and b. If the result is unknown,
// refine adds what is known about it.
func predicate(f func(a, b string) bool, refine func(*cty.RefinementBuilder) *cty.RefinementBuilder, a, b function.Parameter) function.Function {
	return function.New(&function.Spec{
		Params:       []function.Parameter{a, b},
		Type:         function.StaticReturnType(cty.Bool),
		RefineResult: refine,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.BoolVal(f(args[0].AsString(), args[1].AsString())), nil
		},
	})
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
