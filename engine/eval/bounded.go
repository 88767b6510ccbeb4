package eval

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// bounded evaluates an expression within the budget, which knows its place meanwhile. The
// expressions of a configuration count what grows in them; what is left to do is to look
// at the result, which may hold large values in many places.
func (e *Evaluator) bounded(x hcl.Expression, ctx *hcl.EvalContext, what fmt.Stringer) (cty.Value, hcl.Diagnostics) {
	b := e.w.Budget
	defer b.Enter(place{x, what}).Leave()
	if x := e.exceeded(b.Step(1), x.Range()); x != nil {
		return cty.DynamicVal, x
	}
	v, ds := x.Value(ctx)
	if ds.HasErrors() {
		return v, ds
	}
	if x := e.exceeded(b.Check(v), x.Range()); x != nil {
		return cty.DynamicVal, append(ds, x...)
	}
	return v, ds
}

// A place is where an expression stands.
type place struct {
	x    hcl.Expression
	what fmt.Stringer
}

// String implements budget.Place.
func (p place) String() string {
	if p.what == nil {
		return ""
	}
	return p.what.String()
}

// Range implements budget.Place.
func (p place) Range() hcl.Range { return p.x.Range() }

// exceeded returns the diagnostic of an excess, nil if there is none.
func (e *Evaluator) exceeded(x *budget.Excess, at hcl.Range) hcl.Diagnostics {
	if x == nil {
		return nil
	}
	e.w.Budget.Passed(x)
	return hcl.Diagnostics{x.Diagnostic(at)}
}

// instances checks how many instances a count or for_each makes. key is the same each time
// it is expanded.
func (e *Evaluator) instances(s Scope, x hcl.Expression, n int) diags.Diagnostics {
	if n <= 1 || e.w.Static {
		return nil
	}
	ds := diags.FromHCL(e.exceeded(e.w.Budget.Expanded(expansion{s.Module, x}, int64(n)), x.Range()))
	if ds.HasErrors() {
		ds[0].Expression = x
	}
	return ds
}

// An expansion is a count or for_each in a module instance.
type expansion struct {
	in addrs.ModuleInstance
	x  hcl.Expression
}

// String names a named value as configurations do, for [budget.Budget.Place].
func (k cellKey) String() string {
	name := k.name
	switch k.kind {
	case addrs.KindVariable:
		name = "var." + name
	case addrs.KindLocal:
		name = "local." + name
	case addrs.KindOutput:
		name = "output." + name
	case addrs.KindCall:
		name = "module." + name
	}
	if k.in.IsRoot() {
		return name
	}
	return k.in.String() + "." + name
}
