package eval

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
)

// A setting is a boolean argument of a lifecycle block, such as prevent_destroy. Its value is in the plan,
// which anybody may see, and must be the same at apply.
type setting struct {
	name    string
	refuse  func(cty.Value) string // returns the error about a value's marks; "" if they are allowed
	unknown string                 // the error about a value that is unknown until apply
}

var enabledSetting = setting{
	name: "enabled",
	refuse: func(v cty.Value) string {
		switch {
		case marks.Has(v, marks.Sensitive):
			return `The given "enabled" argument is sensitive, or derived from a sensitive value. It cannot be used, because whether there is an instance would give it away.`
		case marks.Has(v, ephemeral):
			return `The given "enabled" argument value is unsuitable: the given value is ephemeral.`
		}
		return ""
	},
	unknown: `The "enabled" value depends on what is not known until apply, so it cannot be said whether there will be an instance. To work around this, use the -target argument to first apply only the resources that the value depends on, or the -exclude argument to leave this object out.`,
}

var preventDestroySetting = setting{
	name:    "prevent_destroy",
	refuse:  func(cty.Value) string { return "" },
	unknown: `The "prevent_destroy" value depends on what is not known until apply, so it cannot be said whether the object may be destroyed. Use values that are known before, such as input variables.`,
}

// setting returns v as the value of a setting; x is the expression that v comes from. It returns false with
// errors. It also returns false if v is unknown because nothing is expanded yet.
func (e expander) setting(v cty.Value, x hcl.Expression, kind *setting) (bool, diags.Diagnostics) {
	bad := refusal(x, fmt.Sprintf("Invalid %s argument", kind.name))
	if wrong := kind.refuse(v); wrong != "" {
		return false, bad("%s", wrong)
	}
	v, _ = v.Unmark()
	switch {
	case v.IsNull():
		return false, bad("The given %q argument value is unsuitable: the given value is null.", kind.name)
	case !v.IsKnown() && e.unexpanded:
		return false, nil
	case !v.IsKnown():
		return false, bad("%s", kind.unknown)
	}
	v, err := convert.Convert(v, cty.Bool)
	if err != nil {
		return false, bad("The given %q argument value is unsuitable: %s.", kind.name, err)
	}
	return v.True(), nil
}
