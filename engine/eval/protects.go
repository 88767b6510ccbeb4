package eval

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

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
	v, ds := e.Expr(x, Scope{Module: in})
	if ds.HasErrors() {
		return false, ds
	}
	bad := func(detail string, args ...any) (bool, diags.Diagnostics) {
		d := diags.Errorf(x.Range().Ptr(), "Invalid prevent_destroy argument", detail, args...)
		d[0].Expression = x
		return false, append(ds, d...)
	}
	v, _ = v.Unmark()
	switch {
	case v.IsNull():
		return bad(`The given "prevent_destroy" argument value is unsuitable: the given value is null.`)
	case !v.IsKnown() && e.w.Static:
		return false, ds
	case !v.IsKnown():
		return bad(`The "prevent_destroy" value depends on what is not known until apply, so it cannot be said whether the object may be destroyed. Use values that are known before, such as input variables.`)
	}
	v, err := convert.Convert(v, cty.Bool)
	if err != nil {
		return bad(`The given "prevent_destroy" argument value is unsuitable: %s.`, err)
	}
	return v.True(), ds
}
