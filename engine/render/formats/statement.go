package formats

import (
	"encoding/json"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
)

// A cause says whether an expression failed because of unknown or sensitive values. Only then is it useful to
// say that a value is unknown or sensitive.
type cause struct{ unknown, sensitive bool }

// causeOf returns the cause in a diagnostic's Extra.
func causeOf(d diags.Diagnostic) cause {
	var c cause
	if x, ok := d.Extra.(diags.Cause); ok {
		c = cause{x.Unknown, x.Sensitive}
	}
	if x, ok := d.Extra.(interface{ DiagnosticCausedByUnknown() bool }); ok {
		c.unknown = x.DiagnosticCausedByUnknown()
	}
	if x, ok := d.Extra.(interface{ DiagnosticCausedBySensitive() bool }); ok {
		c.sensitive = x.DiagnosticCausedBySensitive()
	}
	return c
}

// statement returns a sentence about v for readers of a diagnostic; "" for none. It shows no parts of a
// value, because they might be sensitive.
func (c cause) statement(v cty.Value) string {
	switch {
	case v.HasMark(marks.Sensitive):
		if c.sensitive {
			return "has a sensitive value"
		}
		return ""
	case v.HasMark(marks.Ephemeral):
		return "has an ephemeral value"
	}
	v, _ = v.Unmark()
	if v.IsKnown() {
		return "is " + shortValue(v)
	}
	named := v.Type() != cty.DynamicPseudoType
	switch {
	case c.unknown && named:
		return fmt.Sprintf("is a %s, known only after apply", v.Type().FriendlyName())
	case c.unknown:
		return "will be known only after apply"
	case named:
		return "is a " + v.Type().FriendlyName()
	}
	return ""
}

// shortValue describes a known value in a few words.
func shortValue(v cty.Value) string {
	ty := v.Type()
	switch {
	case v.IsNull():
		return "null"
	case ty == cty.Bool:
		return fmt.Sprint(v.True())
	case ty == cty.Number:
		return v.AsBigFloat().Text('g', 10)
	case ty == cty.String:
		return fmt.Sprintf("%q", v.AsString())
	case ty.IsCollectionType() || ty.IsTupleType():
		switch n := v.LengthInt(); n {
		case 0:
			return "empty " + ty.FriendlyName()
		case 1:
			return ty.FriendlyName() + " with 1 element"
		default:
			return fmt.Sprintf("%s with %d elements", ty.FriendlyName(), n)
		}
	case ty.IsObjectType():
		names := attributeNames(ty)
		switch len(names) {
		case 0:
			return "object with no attributes"
		case 1:
			return fmt.Sprintf("object with 1 attribute %q", names[0])
		default:
			return fmt.Sprintf("object with %d attributes", len(names))
		}
	}
	return ty.FriendlyName()
}

// returnType returns the type that a function returns for any arguments. As in the stock tool, a function
// that accepts any number of arguments is treated as called with one.
func returnType(f function.Function) (json.RawMessage, error) {
	params := f.Params()
	args := make([]cty.Type, len(params))
	for i, p := range params {
		args[i] = p.Type
	}
	if p := f.VarParam(); p != nil {
		args = append(args, p.Type)
	}
	ty, err := f.ReturnType(args)
	if err != nil {
		ty = cty.DynamicPseudoType
	}
	return typeJSON(ty)
}
