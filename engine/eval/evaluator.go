// Package eval evaluates the expressions of a configuration: on demand, and each named value only once.
// Before an expression, it evaluates what the expression refers to (as package refs resolved it).
//
// It does not know which phase of a run it works for. All differences between phases are fields and functions
// of [Phase]: the values of resources, instance keys that an earlier phase decided, the variables of the root
// module. It does not know providers, states and plans. Start at [New].
package eval

import (
	"context"
	"fmt"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/refs"
)

/*
# Values on demand

A configuration has no order of evaluation of its own. Only references connect its parts, and they cross
modules in both directions. Terraform's graph sorts everything first, and then evaluates the values in that
order. Here values are evaluated on demand: whoever needs a value asks for it, and evaluating it asks for the
values that it refers to. The right order follows by itself, in every phase, and values that nobody needs are
not evaluated. References form no cycle (package refs refuses cycles), so every evaluation ends.

A named value is evaluated once, for the first caller; other callers wait for the result. Since there are no
cycles, no evaluation waits for itself.

# Errors are reported once

An error in a local value makes all values that depend on it impossible, and each of their users would report
the error again. So the evaluator keeps the diagnostics of a value, and each caller gets [diags.DependsOn]: an
error that refers to another one, and is not shown. To know whether an evaluation succeeded, a caller checks
for errors. To show them, it also uses [Evaluator.Diagnostics].

# Sharing

A thousand instances of a block refer to the same variables, and the objects for `var` and `local` are the
same for all of them. The objects are made once for each set of names. The part of the context that does not
depend on the instance is made once, too. count, each and self are in a small context of each instance, on top
of the shared one. A shared context must not be changed.
*/

// An Evaluator evaluates expressions for one phase of one run. Safe for concurrent use.
type Evaluator struct {
	phase     Phase
	ctx       context.Context // see [New]
	limits    limits
	expander  expander
	terraform cty.Value // the value of `terraform`
	conditions
	expanded

	mu       sync.Mutex
	cells    map[cellKey]*cell
	contexts map[contextKey]*contextCell
	found    diags.Diagnostics
}

// New returns an evaluator that has evaluated nothing yet. ctx must belong to the whole phase, not to one
// call: callers share values, so one caller that is cancelled must not spoil them for the others.
func New(ctx context.Context, p Phase) *Evaluator {
	root := &frame{module: p.Config.Root, dir: p.Config.Root.Dir}
	l := limits{p.Budget}
	e := &Evaluator{
		phase: p, ctx: ctx, limits: l, expander: expander{l, p.Unexpanded},
		terraform: cty.ObjectVal(map[string]cty.Value{
			"workspace": cty.StringVal(p.Workspace),
			"applying":  cty.BoolVal(p.Applying).Mark(ephemeral),
		}),
		cells:    map[cellKey]*cell{},
		expanded: newExpanded(root),
		contexts: map[contextKey]*contextCell{},
	}
	e.conditions = conditions{phase: &e.phase, limits: l, values: e.context}
	return e
}

// A namedKey identifies an object with the values of several variables or local values. The field names has
// all their names.
type namedKey struct {
	kind  addrs.ObjectKind
	names string
}

type cellKey struct {
	in   addrs.ModuleInstance
	kind addrs.ObjectKind
	name string
}

// String returns the name of the value as configurations spell it.
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
	return within(k.in.String(), name)
}

// A cell has the value of a variable, a local value or an output, which is evaluated at most once.
type cell struct {
	once      sync.Once
	val       cty.Value
	instances []Instance
	failed    bool
}

// Diagnostics returns the diagnostics of all named values evaluated so far, each once. They include the
// errors that [diags.Reported] refers to.
func (e *Evaluator) Diagnostics() diags.Diagnostics {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append(diags.Diagnostics(nil), e.found...)
}

// report adds ds to the result of [Evaluator.Diagnostics].
func (e *Evaluator) report(ds diags.Diagnostics) {
	ds = ds.Unreported()
	if len(ds) == 0 {
		return
	}
	e.mu.Lock()
	e.found = append(e.found, ds...)
	e.mu.Unlock()
}

// get returns the cell of a named value. The first call fills the cell with the function compute. With errors
// the value is [cty.DynamicVal], so that an expression that uses it by mistake is unknown rather than wrong.
func (e *Evaluator) get(k cellKey, compute func(*cell) diags.Diagnostics) (*cell, diags.Diagnostics) {
	e.mu.Lock()
	c := e.cells[k]
	if c == nil {
		c = new(cell)
		e.cells[k] = c
	}
	e.mu.Unlock()
	c.once.Do(func() {
		c.val = cty.DynamicVal
		ds := compute(c)
		c.failed = ds.HasErrors()
		e.report(ds)
	})
	if c.failed {
		return c, diags.Reported()
	}
	return c, nil
}

// Local returns the value of a local value in a module instance.
func (e *Evaluator) Local(in addrs.ModuleInstance, name string) (cty.Value, diags.Diagnostics) {
	c, ds := e.get(cellKey{in, addrs.KindLocal, name}, func(c *cell) (ds diags.Diagnostics) {
		c.val, ds = e.Expr(e.frame(in).module.Locals[name].Expr, named(in, addrs.KindLocal, name))
		return ds
	})
	return c.val, ds
}

// A Scope is where an expression is evaluated: the module instance, and the values of count, each and self.
type Scope struct {
	Module   addrs.ModuleInstance
	Instance *Instance // nil if there is no count and each
	Self     cty.Value // cty.NilVal if there is no self
	// SelfGone means that the object does not exist: conditions that refer to self then have the status
	// Errored, without a diagnostic, since the reason for the missing object is reported already.
	SelfGone bool
	// Extra has the values of further root names, such as those of an import block. A root name is the first
	// name of a reference.
	Extra map[string]cty.Value

	name fmt.Stringer // address of the value, for messages; nil if it has none
	cell fmt.Stringer // name for keeping the value, see [Impure]; nil if it is not kept
}

// named returns the scope for evaluating the expression of a variable, a local value or an output.
func named(in addrs.ModuleInstance, kind addrs.ObjectKind, name string) Scope {
	k := cellKey{in, kind, name}
	return Scope{Module: in, name: k, cell: k}
}

// Expr evaluates an expression of the configuration.
func (e *Evaluator) Expr(x hcl.Expression, s Scope) (cty.Value, diags.Diagnostics) {
	return e.value(x, e.phase.Refs.OfExpr(x), s)
}

// value evaluates an expression that has exactly the given references.
func (e *Evaluator) value(x hcl.Expression, list []refs.Reference, s Scope) (cty.Value, diags.Diagnostics) {
	ctx, ds := e.context(list, s)
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	ds = append(ds, checkScope(x.Variables(), s)...)
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	v, hs := keeping(e.phase.Impure, s.cell, func() (cty.Value, hcl.Diagnostics) { return e.limits.value(x, ctx, s.name) })
	ds = append(ds, diags.FromHCL(hs)...)
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	return v, ds
}

// BlockContext returns the context for decoding the body of a block: a *config.Resource, *config.Provider or
// *config.Provisioner. All instances share the part of the context that does not depend on the instance.
func (e *Evaluator) BlockContext(block any, s Scope) (*hcl.EvalContext, diags.Diagnostics) {
	k := contextKey{s.Module, block}
	e.mu.Lock()
	c := e.contexts[k]
	if c == nil {
		c = new(contextCell)
		e.contexts[k] = c
	}
	e.mu.Unlock()
	c.once.Do(func() {
		var ds diags.Diagnostics
		c.ctx, ds = e.context(e.phase.Refs.OfBlock(block), Scope{Module: s.Module})
		c.failed = ds.HasErrors()
		e.report(ds)
	})
	if c.failed {
		return nil, diags.Reported()
	}
	return s.child(c.ctx), nil
}

// Mistakes returns the errors in the contents of a block's dynamic blocks: see [refs.Refs.Mistakes].
func (e *Evaluator) Mistakes(block any) diags.Diagnostics { return e.phase.Refs.Mistakes(block) }

// ActionContext returns the context in which the body of an action block is decoded. Each call makes a new
// context: an action may refer to the resource that triggers it, which changes from one invocation to the next.
func (e *Evaluator) ActionContext(r *config.Resource, s Scope) (*hcl.EvalContext, diags.Diagnostics) {
	return e.context(e.phase.Refs.OfBlock(r), s)
}

// Ready evaluates the references of a resource block in a module instance. An error means that one of these
// references failed. The block then has no instances to plan.
func (e *Evaluator) Ready(in addrs.ModuleInstance, r *config.Resource) diags.Diagnostics {
	s := Scope{Module: in}
	_, ds := e.BlockContext(r, s)
	ds = append(ds, e.conditions.ready(r.Preconditions, s)...)
	return append(ds, e.conditions.ready(r.Postconditions, s)...)
}

type contextKey struct {
	in    addrs.ModuleInstance
	block any
}

type contextCell struct {
	once   sync.Once
	ctx    *hcl.EvalContext
	failed bool
}
