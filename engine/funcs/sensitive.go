package funcs

import (
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// sameType is the type of a function that returns a value as it got it.
func sameType(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil }

var sensitiveFunc = function.New(&function.Spec{
	Params: []function.Parameter{open("value")},
	Type:   sameType,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		return args[0].Mark(marks.Sensitive), nil
	},
})

// nonsensitive takes the mark off the value itself, not off its parts.
var nonSensitiveFunc = function.New(&function.Spec{
	Params: []function.Parameter{open("value")},
	Type:   sameType,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		v, ms := args[0].Unmark()
		delete(ms, marks.Sensitive) // Unmark returns a copy
		return v.WithMarks(ms), nil
	},
})

// issensitive cannot tell of a value that is not known: it may turn out sensitive.
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

// ephemeralasnull makes null of everything in the value that must not be stored.
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
