package funcs

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// distinctFunc is the function distinct. For lists of strings it is faster than the library, which compares
// each element with all others.
var distinctFunc = function.New(&function.Spec{
	Params:       stdlib.DistinctFunc.Params(),
	RefineResult: notNull,
	Type:         stdlib.DistinctFunc.ReturnTypeForValues,
	Impl: func(args []cty.Value, ty cty.Type) (cty.Value, error) {
		list := args[0]
		if ty.ElementType() != cty.String || !list.IsWhollyKnown() {
			return stdlib.DistinctFunc.Call(args)
		}
		var out []cty.Value
		seen := map[string]bool{}
		null := false
		for _, v := range list.Elements() {
			switch {
			case v.IsNull() && null, !v.IsNull() && seen[v.AsString()]:
				continue
			case v.IsNull():
				null = true
			default:
				seen[v.AsString()] = true
			}
			out = append(out, v)
		}
		if len(out) == 0 {
			return cty.ListValEmpty(cty.String), nil
		}
		return cty.ListVal(out), nil
	},
})
