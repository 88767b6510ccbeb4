// Package eval gives every expression of a configuration its value: on demand, and each named value
// once. It pulls: the references of an expression (as package refs resolved them) are evaluated
// first, for any caller.
//
// It knows no phase of a run by name. All that differs between phases are fields and functions of
// [Phase]: the values of resources, the instance keys that were decided before, the variables of
// the root module. It refuses to know providers, states and plans. Start at [New].
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

A configuration has no order of evaluation of its own: only references tie its parts together, and
these reach through modules in both directions. One could sort everything first, and push the values
through that order, as Terraform's graph does. Here values are pulled instead: whoever
needs one asks for it, and that one asks for those that it refers to. The order comes out by itself,
in every phase, and nothing is evaluated that nobody needs. References form no cycle (package
refs has refused those), so that every question ends.

A named value is evaluated once, by whoever comes first; all others wait for it. Since there are no
cycles, nobody waits for himself.

# Errors are reported once

An error in a local value makes all values behind it impossible, and each of their users would
report it again. So the diagnostics of a value stay with the evaluator, and each who asks gets
[diags.DependsOn]: an error that stands for another, and is not shown. To know whether a question was
answered, a caller looks for errors; to show them, it takes [Evaluator.Diagnostics] as well.

# Sharing

A thousand instances of a block refer to the same variables, and the objects for `var` and `local`
are the same for all of them. They are made once for each set of names, and so is the context in
which nothing differs by instance; count, each and self are in a small context of the instance's
own, on top of it. Nobody may change a context that is shared.
*/

// An Evaluator gives values for one phase of one run. Safe for concurrent use.
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

// New returns an evaluator with nothing evaluated yet. ctx is that of the whole phase rather than
// of a call: values are shared, so that a caller who gives up must not spoil them for the others.
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

// A namedKey is the key of an object of variables or local values: all of their names.
type namedKey struct {
	kind  addrs.ObjectKind
	names string
}

type cellKey struct {
	in   addrs.ModuleInstance
	kind addrs.ObjectKind
	name string
}

// String names a named value as configurations do.
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

// A cell is a named value, evaluated at most once.
type cell struct {
	once      sync.Once
	val       cty.Value
	instances []Instance
	failed    bool
}

// Diagnostics returns the diagnostics of all named values evaluated so far, each once. Those that
// [diags.Reported] stands for are among them.
func (e *Evaluator) Diagnostics() diags.Diagnostics {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append(diags.Diagnostics(nil), e.found...)
}

// report keeps ds for [Evaluator.Diagnostics].
func (e *Evaluator) report(ds diags.Diagnostics) {
	ds = ds.Unreported()
	if len(ds) == 0 {
		return
	}
	e.mu.Lock()
	e.found = append(e.found, ds...)
	e.mu.Unlock()
}

// get returns the cell of a named value, computed. The value beside errors is [cty.DynamicVal], so that
// an expression that gets it by mistake is unknown rather than wrong.
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

// Local returns a local value.
func (e *Evaluator) Local(in addrs.ModuleInstance, name string) (cty.Value, diags.Diagnostics) {
	c, ds := e.get(cellKey{in, addrs.KindLocal, name}, func(c *cell) (ds diags.Diagnostics) {
		c.val, ds = e.Expr(e.frame(in).module.Locals[name].Expr, named(in, addrs.KindLocal, name))
		return ds
	})
	return c.val, ds
}

// A Scope is the module instance that an expression is evaluated in, with its values of count,
// each and self.
type Scope struct {
	Module   addrs.ModuleInstance
	Instance *Instance // nil: count and each mean nothing
	Self     cty.Value // cty.NilVal: self means nothing
	// SelfGone is for an object that does not exist: conditions that refer to self have the
	// status of an error then. It is not reported, since the cause of the object's absence was.
	SelfGone bool
	// Extra are further root names, such as those of an import block.
	Extra map[string]cty.Value

	name fmt.Stringer // the address of the value, if it has one
	cell fmt.Stringer // the name under which the value may be kept, see [Impure]
}

// named returns the scope for the expression of a named value.
func named(in addrs.ModuleInstance, kind addrs.ObjectKind, name string) Scope {
	k := cellKey{in, kind, name}
	return Scope{Module: in, name: k, cell: k}
}

// Expr evaluates an expression of the configuration.
func (e *Evaluator) Expr(x hcl.Expression, s Scope) (cty.Value, diags.Diagnostics) {
	return e.value(x, e.phase.Refs.OfExpr(x), s)
}

// value evaluates an expression with the references list.
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

// BlockContext returns the context to decode the body of a *config.Resource, *config.Provider or
// *config.Provisioner in. The part that does not depend on the instance is made once for all of
// them.
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

// ActionContext returns the context to decode the body of an action block in. It is made anew each time: an action may refer
// to the resource that triggers it, which changes from one invocation to the next.
func (e *Evaluator) ActionContext(r *config.Resource, s Scope) (*hcl.EvalContext, diags.Diagnostics) {
	return e.context(e.phase.Refs.OfBlock(r), s)
}

// Ready evaluates the references of a resource block in a module instance. If there are errors, one
// of these failed, and the block has no instances to plan.
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
