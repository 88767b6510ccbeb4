package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
)

// enabled evaluates the argument of a lifecycle block that says whether there is an
// instance. It is part of the plan, which anybody may see, and must be the same at apply.
func (e *Evaluator) enabled(x hcl.Expression, s Scope) (bool, diags.Diagnostics) {
	v, ds := e.Expr(x, s)
	if ds.HasErrors() {
		return false, ds
	}
	bad := func(detail string, args ...any) (bool, diags.Diagnostics) {
		d := diags.Errorf(x.Range().Ptr(), "Invalid enabled argument", detail, args...)
		d[0].Expression = x
		return false, append(ds, d...)
	}
	switch {
	case marks.Has(v, marks.Sensitive):
		return bad(`The given "enabled" argument is sensitive, or derived from a sensitive value. It cannot be used, because whether there is an instance would give it away.`)
	case marks.Has(v, ephemeral):
		return bad(`The given "enabled" argument value is unsuitable: the given value is ephemeral.`)
	}
	v, _ = v.Unmark()
	switch {
	case v.IsNull():
		return bad(`The given "enabled" argument value is unsuitable: the given value is null.`)
	case !v.IsKnown() && e.w.Static:
		return true, ds
	case !v.IsKnown():
		return bad(`The "enabled" value depends on what is not known until apply, so it cannot be said whether there will be an instance. To work around this, use the -target argument to first apply only the resources that the value depends on, or the -exclude argument to leave this object out.`)
	}
	v, err := convert.Convert(v, cty.Bool)
	if err != nil {
		return bad(`The given "enabled" argument value is unsuitable: %s.`, err)
	}
	return v.True() || e.w.Static, ds
}
