// Package eval gives every expression of a configuration its value: on demand,
// and each named value once. It pulls: what an expression mentions (as package
// refs resolved it) is evaluated first, whoever asks.
//
// It knows no phase of a run by name. All that differs between phases are fields and
// functions of [Phase]: the values of resources, the instance keys that were decided before,
// the variables of the root module. It refuses to know providers, states and plans.
// Start at [New].
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

// A Phase is the program of a run together with everything that one of its phases decides
// about values.
type Phase struct {
	Program
	// Variables are the root module's variables, converted and without marks. A missing
	// one is unknown.
	Variables map[string]cty.Value
	// InvalidVariables are the errors of those variables of the root module whose values do not
	// have the declared type, by name.
	InvalidVariables map[string]diags.Diagnostics
	// Resource returns the value of a resource in this phase: an object, or a tuple or
	// object of them by instance key. If only is not nil, nobody will look at other
	// instances than those, and any value may stand for the others. It may ask a provider; ctx
	// is that of [New].
	Resource func(ctx context.Context, r addrs.AbsResource, only []addrs.InstanceKey) (cty.Value, diags.Diagnostics)
	// CallKeys and ResourceKeys return instance keys that were decided before. nil: count
	// and for_each decide.
	CallKeys     func(addrs.ModuleInstance, string) ([]addrs.InstanceKey, bool)
	ResourceKeys func(addrs.AbsResource) ([]addrs.InstanceKey, bool)
	// Applying is the value of terraform.applying.
	Applying bool
	// ConditionsWarn makes conditions that are not met warnings instead of errors.
	ConditionsWarn bool
	// Static says that no instances exist yet (validate): count.index, each.key and each.value
	// are unknown, and every block has one instance.
	Static bool
}

// An Evaluator gives values for one phase of one run. Safe for concurrent use.
type Evaluator struct {
	w         Phase
	ctx       context.Context // of the phase: see [New]
	terraform cty.Value       // what `terraform` is

	mu       sync.Mutex
	cells    map[cellKey]*cell
	frames   map[addrs.ModuleInstance]*frame
	contexts map[contextKey]*contextCell
	checks   checks
	found    diags.Diagnostics
}

// New returns an evaluator with nothing evaluated yet. ctx is that of the whole phase rather than
// of a call: values are shared, so that a caller who gives up must not spoil them for the others.
func New(ctx context.Context, w Phase) *Evaluator {
	root := &frame{module: w.Config.Root, dir: w.Config.Root.Dir}
	return &Evaluator{
		w: w, ctx: ctx,
		terraform: cty.ObjectVal(map[string]cty.Value{
			"workspace": cty.StringVal(w.Workspace),
			"applying":  cty.BoolVal(w.Applying).Mark(ephemeral),
		}),
		cells:    map[cellKey]*cell{},
		frames:   map[addrs.ModuleInstance]*frame{addrs.RootModuleInstance: root},
		contexts: map[contextKey]*contextCell{},
	}
}

// A frame is a module instance: which module, called how.
type frame struct {
	module   *config.Module
	parent   addrs.ModuleInstance
	instance *Instance // in the call; nil for the root
	dir      string

	pathOnce sync.Once
	path     cty.Value
	named    map[namedKey]cty.Value      // guarded by the evaluator's mu
	shared   map[string]*hcl.EvalContext // likewise: see builder.shared
}

// A namedKey is what an object of variables or local values has: their names.
type namedKey struct {
	kind  addrs.ObjectKind
	names string
}

type cellKey struct {
	in   addrs.ModuleInstance
	kind addrs.ObjectKind
	name string
}

// A cell is a named value, evaluated at most once.
type cell struct {
	once      sync.Once
	val       cty.Value
	instances []Instance
	failed    bool
}

// Diagnostics returns what evaluating named values had to say so far, each once.
// Whoever got [diags.Reported] finds the reason here.
func (e *Evaluator) Diagnostics() diags.Diagnostics {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append(diags.Diagnostics(nil), e.found...)
}

// report keeps ds and returns what stands for them.
func (e *Evaluator) report(ds diags.Diagnostics) {
	ds = ds.Unreported()
	if len(ds) == 0 {
		return
	}
	e.mu.Lock()
	e.found = append(e.found, ds...)
	e.mu.Unlock()
}

// get returns the cell of a named value, computed.
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

// frame returns the frame of a module instance. It must have been expanded.
func (e *Evaluator) frame(in addrs.ModuleInstance) *frame {
	e.mu.Lock()
	f := e.frames[in]
	e.mu.Unlock()
	if f == nil {
		panic("eval: module instance " + in.String() + " is used before it was expanded")
	}
	return f
}

// Local returns a local value.
func (e *Evaluator) Local(in addrs.ModuleInstance, name string) (cty.Value, diags.Diagnostics) {
	c, ds := e.get(cellKey{in, addrs.KindLocal, name}, func(c *cell) (ds diags.Diagnostics) {
		c.val, ds = e.Expr(e.frame(in).module.Locals[name].Expr, Scope{Module: in, what: cellKey{in, addrs.KindLocal, name}})
		return ds
	})
	return c.val, ds
}

// Output returns an output value as a caller sees it, with the marks that its
// declaration gives.
func (e *Evaluator) Output(in addrs.ModuleInstance, name string) (cty.Value, diags.Diagnostics) {
	c, ds := e.get(cellKey{in, addrs.KindOutput, name}, func(c *cell) diags.Diagnostics {
		return e.output(c, in, e.frame(in).module.Outputs[name])
	})
	return c.val, ds
}

// Scope is where an expression is evaluated: in which module instance, and with
// which meaning of count, each and self.
type Scope struct {
	Module   addrs.ModuleInstance
	Instance *Instance // nil: count and each mean nothing
	Self     cty.Value // cty.NilVal: self means nothing
	// SelfGone says that there is no object that self could mean, so that conditions that
	// mention it end in an error. It is not reported: what took the object away was.
	SelfGone bool
	// Extra are further root names, such as those of an import block.
	Extra map[string]cty.Value

	what fmt.Stringer // what the value is of, if it has a name
}

// Expr evaluates an expression of the configuration.
func (e *Evaluator) Expr(x hcl.Expression, s Scope) (cty.Value, diags.Diagnostics) {
	return e.value(x, e.w.Refs.OfExpr(x), s)
}

// value evaluates an expression that mentions list.
func (e *Evaluator) value(x hcl.Expression, list []refs.Reference, s Scope) (cty.Value, diags.Diagnostics) {
	ctx, ds := e.context(list, s)
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	ds = append(ds, checkScope(x.Variables(), s)...)
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	v, hs := e.bounded(x, ctx, s.what)
	ds = append(ds, diags.FromHCL(hs)...)
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	return v, ds
}

// BlockContext returns the context to decode the body of a *config.Resource,
// *config.Provider or *config.Provisioner in. What does not depend on the
// instance is made once for all of them.
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
		c.ctx, ds = e.context(e.w.Refs.OfBlock(block), Scope{Module: s.Module})
		c.failed = ds.HasErrors()
		e.report(ds)
	})
	if c.failed {
		return nil, diags.Reported()
	}
	return s.child(c.ctx), nil
}

// Ready evaluates what a resource block mentions in a module instance. Its errors say
// that something of that failed, so that the block has no instances to speak of.
func (e *Evaluator) Ready(in addrs.ModuleInstance, r *config.Resource) diags.Diagnostics {
	_, ds := e.BlockContext(r, Scope{Module: in})
	for _, list := range [][]*config.Condition{r.Preconditions, r.Postconditions} {
		for _, c := range list {
			for _, x := range []hcl.Expression{c.Condition, c.ErrorMessage} {
				_, more := e.context(e.w.Refs.OfExpr(x), Scope{Module: in})
				ds = append(ds, more...)
			}
		}
	}
	return ds
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
