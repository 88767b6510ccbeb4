package funcs

import (
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

func timestampFunc(now func() time.Time) function.Function {
	return stringFunc(func([]string) (string, error) {
		return now().UTC().Format(time.RFC3339), nil
	})
}

// planTimestampFunc returns the same time for the whole run: also while applying,
// when it comes from the plan.
func planTimestampFunc(at time.Time) function.Function {
	return function.New(&function.Spec{
		Type:         function.StaticReturnType(cty.String),
		RefineResult: notNull,
		Impl: func([]cty.Value, cty.Type) (cty.Value, error) {
			if at.IsZero() {
				return cty.UnknownVal(cty.String), nil
			}
			return cty.StringVal(at.UTC().Format(time.RFC3339)), nil
		},
	})
}

var timeCmpFunc = function.New(&function.Spec{
	Params:       []function.Parameter{text("timestamp_a"), text("timestamp_b")},
	Type:         function.StaticReturnType(cty.Number),
	RefineResult: notNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		var at [2]time.Time
		for i, arg := range args {
			var err error
			if at[i], err = parseTime(arg); err != nil {
				return cty.NilVal, function.NewArgError(i, err)
			}
		}
		return cty.NumberIntVal(int64(at[0].Compare(at[1]))), nil
	},
})

// parseTime is as strict and as talkative as timeadd and formatdate, whose parser
// the library keeps to itself: adding nothing runs it.
func parseTime(v cty.Value) (time.Time, error) {
	if _, err := stdlib.TimeAdd(v, cty.StringVal("0s")); err != nil {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339, v.AsString())
}
