package funcs

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

func timestampFunc(now func() time.Time) function.Function {
	return stringFunc(func([]string) (string, error) {
		return now().UTC().Format(time.RFC3339), nil
	})
}

// planTimestampFunc returns the function plantimestamp, whose result is always planned, the time when the plan
// was made. An apply returns the same time. If planned is zero, the result is unknown.
func planTimestampFunc(planned time.Time) function.Function {
	return function.New(&function.Spec{
		Type:         function.StaticReturnType(cty.String),
		RefineResult: notNull,
		Impl: func([]cty.Value, cty.Type) (cty.Value, error) {
			if planned.IsZero() {
				return cty.UnknownVal(cty.String), nil
			}
			return cty.StringVal(planned.UTC().Format(time.RFC3339)), nil
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
			if at[i], err = parseTime(arg.AsString()); err != nil {
				return cty.NilVal, function.NewArgError(i, err)
			}
		}
		return cty.NumberIntVal(int64(at[0].Compare(at[1]))), nil
	},
})

// parseTime accepts every time that Go's own parser accepts, unlike timeadd and formatdate. Its error names
// the part that is wrong.
func parseTime(s string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, s)
	var bad *time.ParseError
	if !errors.As(err, &bad) {
		return at, err
	}
	return time.Time{}, fmt.Errorf("not a valid RFC3339 timestamp: %s", misread(bad))
}

// timeParts has a name for each element of the layout time.RFC3339. A ParseError tells the position of the
// error by such an element.
var timeParts = map[string]string{
	"2006": "year", "01": "month", "02": "day of month",
	"15": "hour", "04": "minute", "05": "second", "Z07:00": "UTC offset",
	"": "timestamp segment",
}

func misread(bad *time.ParseError) string {
	part, isPart := timeParts[bad.LayoutElem]
	switch {
	case bad.LayoutElem == "" && strings.HasSuffix(bad.Message, "out of range"):
		return strings.TrimPrefix(bad.Message, ": ")
	case bad.LayoutElem == "T":
		return "missing required time introducer 'T'"
	case isPart && bad.ValueElem == "":
		return "end of string before " + part
	case isPart:
		return fmt.Sprintf("cannot use %q as %s", bad.ValueElem, part)
	case bad.ValueElem == "":
		return fmt.Sprintf("end of string where %q is expected", bad.LayoutElem)
	}
	return fmt.Sprintf("found %q where %q is expected", bad.ValueElem, bad.LayoutElem)
}
