package eval

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// limits evaluates single expressions within the budget.
type limits struct{ budget *budget.Budget }

// value evaluates an expression. Functions and loops of the configuration count the memory of their results
// themselves. value measures the whole result, which may contain one large value many times. name is the
// address of the value, for messages about the budget; nil if it has none.
func (l limits) value(x hcl.Expression, ctx *hcl.EvalContext, name fmt.Stringer) (cty.Value, hcl.Diagnostics) {
	b := l.budget
	defer b.Enter(site{x, name}).Leave()
	if ds := l.exceeded(b.Step(1), x.Range()); ds != nil {
		return cty.DynamicVal, ds
	}
	v, ds := x.Value(ctx)
	if ds.HasErrors() {
		return v, ds
	}
	if more := l.exceeded(b.Check(v), x.Range()); more != nil {
		return cty.DynamicVal, append(ds, more...)
	}
	return v, ds
}

// exceeded returns the error for exceeding the budget, at a source range; nil if x is nil.
func (l limits) exceeded(x *budget.Excess, at hcl.Range) hcl.Diagnostics {
	if x == nil {
		return nil
	}
	l.budget.Passed(x)
	return hcl.Diagnostics{x.Diagnostic(at)}
}

// instances checks the number of instances that a count or for_each makes. An argument that is expanded
// several times in the same module instance counts once.
func (l limits) instances(at expansion, n int) diags.Diagnostics {
	if n <= 1 {
		return nil
	}
	ds := diags.FromHCL(l.exceeded(l.budget.Expanded(at, int64(n)), at.x.Range()))
	if ds.HasErrors() {
		ds[0].Expression = at.x
	}
	return ds
}

// An expansion is a count or for_each argument in a module instance.
type expansion struct {
	in addrs.ModuleInstance
	x  hcl.Expression
}

// A site is an expression that is being evaluated. It implements [budget.Place].
type site struct {
	x    hcl.Expression
	name fmt.Stringer
}

func (s site) String() string {
	if s.name == nil {
		return ""
	}
	return s.name.String()
}

func (s site) Range() hcl.Range { return s.x.Range() }
