package eval

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
)

// Modules returns the instances of a module, in order. The caller must not change the list.
func (e *Evaluator) Modules(m *config.Module) ([]addrs.ModuleInstance, diags.Diagnostics) {
	if l, ok := e.list(m); ok {
		return l, nil
	}
	parents, ds := e.Modules(m.Parent)
	var out []addrs.ModuleInstance
	for _, p := range parents {
		ins, more := e.CallInstances(p, m.Call.Name)
		ds = append(ds, more...)
		for i := range ins {
			out = append(out, p.Child(m.Call.Name, ins[i].Key))
		}
	}
	if len(ds) == 0 {
		e.keepList(m, out)
	}
	return out, ds
}

// HasModule reports whether a module instance exists. Errors of other instances do not matter.
func (e *Evaluator) HasModule(m *config.Module, in addrs.ModuleInstance) bool {
	_, _ = e.Modules(m)
	return e.has(in)
}

// CallInstances returns the instances of a module call, in order. Call it before evaluating values in these
// module instances: evaluating a value in a module instance that is not expanded yet is a bug in Lockstep,
// and panics.
func (e *Evaluator) CallInstances(in addrs.ModuleInstance, name string) ([]Instance, diags.Diagnostics) {
	c, ds := e.get(cellKey{in, addrs.KindCall, name}, func(c *cell) (ds diags.Diagnostics) {
		f := e.frame(in)
		child := f.module.Children[name]
		if child == nil {
			return diags.Reported() // the module could not be loaded
		}
		if f.module.Replacement(in) != nil {
			return nil
		}
		c.instances, ds = e.expand(f.module.Calls[name].Repetition, repeating(in, addrs.KindCall, name), e.phase.keysOfCall(in, name))
		e.addFrames(in, child, c.instances)
		return ds
	})
	return c.instances, ds
}

// ResourceInstances returns the instances of a resource, in order.
func (e *Evaluator) ResourceInstances(in addrs.ModuleInstance, r *config.Resource) ([]Instance, diags.Diagnostics) {
	if e.frame(in).module.Replacement(in) != nil {
		return nil, nil
	}
	return e.expand(r.Repetition, repeating(in, addrs.KindResource, r.Addr.String()), e.phase.keysOfResource(addrs.AbsResource{Module: in, Resource: r.Addr}))
}

// ForEach returns the instances for a for_each argument that is evaluated in a scope.
func (e *Evaluator) ForEach(x hcl.Expression, s Scope) ([]Instance, diags.Diagnostics) {
	return e.expand(config.Repetition{ForEach: x}, s, nil)
}

// ImportForEach returns the instances for the for_each argument of an import block. They have no
// instance keys.
func (e *Evaluator) ImportForEach(x hcl.Expression, s Scope) ([]Instance, diags.Diagnostics) {
	v, ds := e.Expr(x, s)
	if ds.HasErrors() {
		return nil, ds
	}
	out, more := e.expander.imported(v, expansion{s.Module, x})
	return out, append(ds, explained(e, more, x, s)...)
}

// expand returns the instances that count, for_each or enabled makes. The parameter was has the instance keys
// that an earlier phase decided, or is nil. If there are such keys, expand does not compute them again: it
// evaluates only for_each, to get the values of the instances.
func (e *Evaluator) expand(r config.Repetition, s Scope, was *decided) ([]Instance, diags.Diagnostics) {
	if was != nil && r.ForEach == nil {
		out := make([]Instance, len(was.keys))
		for i, k := range was.keys {
			out[i] = Instance{Key: k, HasCount: r.Count != nil}
		}
		return out, nil
	}
	switch {
	case r.Count != nil:
		v, ds := e.Expr(r.Count, s)
		if ds.HasErrors() {
			return nil, ds
		}
		out, more := e.expander.counted(v, expansion{s.Module, r.Count})
		return out, append(ds, more...)
	case r.ForEach != nil:
		v, ds := e.Expr(r.ForEach, s)
		if ds.HasErrors() {
			return nil, ds
		}
		out, more := e.expander.each(v, expansion{s.Module, r.ForEach}, was)
		return out, append(ds, explained(e, more, r.ForEach, s)...)
	case r.Enabled != nil:
		on, ds := e.setting(r.Enabled, s, &enabledSetting)
		if ds.HasErrors() || !on && !e.phase.Unexpanded {
			return nil, ds
		}
		return []Instance{{}}, ds
	}
	return []Instance{{}}, nil
}

// explained adds the values in an expression to errors about the expression, for the readers of the errors.
func explained(e *Evaluator, ds diags.Diagnostics, x hcl.Expression, s Scope) diags.Diagnostics {
	if len(ds) == 0 {
		return nil
	}
	ctx, failed := e.context(e.phase.Refs.OfExpr(x), s)
	for i := range ds {
		if ds[i].Expression == x && !failed.HasErrors() {
			ds[i].EvalContext = ctx
		}
	}
	return ds
}

// Protects reports whether a resource's prevent_destroy forbids destroying its instances in
// an instance of its module.
func (e *Evaluator) Protects(in addrs.ModuleInstance, r *config.Resource) (bool, diags.Diagnostics) {
	x := r.PreventDestroyIf
	if x == nil {
		return r.PreventDestroy, nil
	}
	for _, ref := range e.phase.Refs.OfExpr(x) {
		if ref.Object.Kind == addrs.KindResource && ref.Object.Res == r.Addr {
			return false, diags.Errorf(ref.Range().Ptr(), "Self-referential block", "Whether %s may be destroyed cannot depend on itself.", r.Addr)
		}
	}
	return e.setting(x, Scope{Module: in}, &preventDestroySetting)
}

// setting evaluates a boolean argument of a lifecycle block. After an error it returns false. kind describes
// the argument.
func (e *Evaluator) setting(x hcl.Expression, s Scope, kind *setting) (bool, diags.Diagnostics) {
	v, ds := e.Expr(x, s)
	if ds.HasErrors() {
		return false, ds
	}
	on, more := e.expander.setting(v, x, kind)
	return on, append(ds, more...)
}

// CollectResource makes the value of a resource from the values of its instances. The value of an ephemeral
// resource is ephemeral as a whole, because not even the number of its instances may be stored.
func (e *Evaluator) CollectResource(r *config.Resource, ins []Instance, vals []cty.Value) cty.Value {
	v := e.expander.collect(r.Repetition, ins, vals)
	if r.Addr.Mode == addrs.Ephemeral {
		v = v.Mark(marks.Ephemeral)
	}
	return v
}

// call returns the value of a module call: an object with the given outputs. The name "" in outs means all
// outputs.
func (e *Evaluator) call(in addrs.ModuleInstance, name string, outs []string) (cty.Value, diags.Diagnostics) {
	f := e.frame(in)
	child := f.module.Children[name]
	if child == nil {
		return cty.DynamicVal, diags.Reported()
	}
	if slices.Contains(outs, "") {
		outs = slices.Sorted(maps.Keys(child.Outputs))
	} else {
		slices.Sort(outs)
		outs = slices.DeleteFunc(slices.Compact(outs), func(o string) bool { return child.Outputs[o] == nil })
	}
	r := f.module.Calls[name].Repetition
	if e.phase.Unexpanded && (r.Count != nil || r.ForEach != nil) {
		return unexpandedCall(r, outs), nil
	}
	c, ds := e.get(cellKey{in, addrs.KindInside, name + "|" + strings.Join(outs, ",")}, func(c *cell) diags.Diagnostics {
		ins, ds := e.CallInstances(in, name)
		if ds.HasErrors() {
			return ds
		}
		vals := make([]cty.Value, len(ins))
		for i := range ins {
			var more diags.Diagnostics
			vals[i], more = e.outputs(in.Child(name, ins[i].Key), outs)
			ds = append(ds, more...)
		}
		c.val = e.expander.collect(r, ins, vals)
		return ds
	})
	return c.val, ds
}

// outputs returns an object with the outputs of a module instance that have these names.
func (e *Evaluator) outputs(in addrs.ModuleInstance, names []string) (cty.Value, diags.Diagnostics) {
	var ds diags.Diagnostics
	attrs := make(map[string]cty.Value, len(names))
	for _, o := range names {
		v, more := e.Output(in, o)
		ds = append(ds, more...)
		if e.phase.OpaqueModules {
			v = cty.DynamicVal
		}
		attrs[o] = v
	}
	return cty.ObjectVal(attrs), ds
}

// unexpandedCall returns the value of a module call with count or for_each while its instances are not known:
// an unknown list or map of objects with the outputs outs.
func unexpandedCall(r config.Repetition, outs []string) cty.Value {
	types := make(map[string]cty.Type, len(outs))
	for _, o := range outs {
		types[o] = cty.DynamicPseudoType
	}
	if r.Count != nil {
		return cty.UnknownVal(cty.List(cty.Object(types)))
	}
	return cty.UnknownVal(cty.Map(cty.Object(types)))
}
