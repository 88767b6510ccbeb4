package funcs

import (
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// sameType is the type function for functions that return their first argument's type.
func sameType(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil }

var sensitiveFunc = function.New(&function.Spec{
	Params: []function.Parameter{open("value")},
	Type:   sameType,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		return args[0].Mark(marks.Sensitive), nil
	},
})

// nonSensitiveFunc is the function nonsensitive. It removes the mark from the value itself, not from its
// parts.
var nonSensitiveFunc = function.New(&function.Spec{
	Params: []function.Parameter{open("value")},
	Type:   sameType,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		v, ms := args[0].Unmark()
		delete(ms, marks.Sensitive) // Unmark returns a copy
		return v.WithMarks(ms), nil
	},
})

// isSensitiveFunc is the function issensitive. For an unknown value without the mark the result is unknown,
// since the value may turn out sensitive.
var isSensitiveFunc = function.New(&function.Spec{
	Params: []function.Parameter{open("value")},
	Type:   function.StaticReturnType(cty.Bool),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		switch {
		case args[0].HasMark(marks.Sensitive):
			return cty.True, nil
		case !args[0].IsKnown():
			return cty.UnknownVal(cty.Bool), nil
		}
		return cty.False, nil
	},
})

// ephemeralAsNullFunc is the function ephemeralasnull. It replaces every ephemeral part of the value with
// null.
var ephemeralAsNullFunc = function.New(&function.Spec{
	Params: []function.Parameter{open("value")},
	Type:   sameType,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		if !marks.Contains(args[0], marks.Ephemeral) {
			return args[0], nil
		}
		return cty.Transform(args[0], func(_ cty.Path, v cty.Value) (cty.Value, error) {
			_, ms := v.Unmark()
			if _, ephemeral := ms[marks.Ephemeral]; !ephemeral {
				return v, nil
			}
			delete(ms, marks.Ephemeral)
			return cty.NullVal(v.Type()).WithMarks(ms), nil
		})
	},
})
