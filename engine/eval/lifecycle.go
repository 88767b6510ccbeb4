package eval

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
)

// A setting is a boolean argument of a lifecycle block.
type setting struct {
	name    string
	static  bool                   // what it is where values are not known yet
	refuse  func(cty.Value) string // what is wrong with a value's marks, "" for nothing
	unknown string                 // what to say of a value that is not known until apply
}

var enabledSetting = setting{
	name:   "enabled",
	static: true,
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

// enabled evaluates the argument of a lifecycle block that says whether there is an
// instance. It is part of the plan, which anybody may see, and must be the same at apply.
func (e *Evaluator) enabled(x hcl.Expression, s Scope) (bool, diags.Diagnostics) {
	on, ds := e.setting(x, s, &enabledSetting)
	return on || e.w.Static && !ds.HasErrors(), ds
}

// Protects returns whether a resource's prevent_destroy forbids to destroy its instances in
// an instance of its module.
func (e *Evaluator) Protects(in addrs.ModuleInstance, r *config.Resource) (bool, diags.Diagnostics) {
	x := r.PreventDestroyIf
	if x == nil {
		return r.PreventDestroy, nil
	}
	for _, ref := range e.w.Refs.OfExpr(x) {
		if ref.Object.Kind == addrs.KindResource && ref.Object.Res == r.Addr {
			return false, diags.Errorf(ref.Range().Ptr(), "Self-referential block", "Whether %s may be destroyed cannot depend on itself.", r.Addr)
		}
	}
	return e.setting(x, Scope{Module: in}, &preventDestroySetting)
}

// setting evaluates a setting; false if there are errors.
func (e *Evaluator) setting(x hcl.Expression, s Scope, of *setting) (bool, diags.Diagnostics) {
	v, ds := e.Expr(x, s)
	if ds.HasErrors() {
		return false, ds
	}
	bad := func(detail string) (bool, diags.Diagnostics) {
		d := diags.Errorf(x.Range().Ptr(), fmt.Sprintf("Invalid %s argument", of.name), "%s", detail)
		d[0].Expression = x
		return false, append(ds, d...)
	}
	if wrong := of.refuse(v); wrong != "" {
		return bad(wrong)
	}
	v, _ = v.Unmark()
	switch {
	case v.IsNull():
		return bad(fmt.Sprintf("The given %q argument value is unsuitable: the given value is null.", of.name))
	case !v.IsKnown() && e.w.Static:
		return of.static, ds
	case !v.IsKnown():
		return bad(of.unknown)
	}
	v, err := convert.Convert(v, cty.Bool)
	if err != nil {
		return bad(fmt.Sprintf("The given %q argument value is unsuitable: %s.", of.name, err))
	}
	return v.True(), ds
}
