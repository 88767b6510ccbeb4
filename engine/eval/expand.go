package eval

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
)

const ephemeral = marks.Ephemeral

// An Instance is one instance that count or for_each makes of a block, and what
// count and each mean in it.
type Instance struct {
	Key      addrs.InstanceKey
	Value    cty.Value // each.value
	HasCount bool
	HasEach  bool
	unknown  bool // which instance it is, is not known
	// eachKey is each.key if that is not Key: import blocks need no instance keys.
	eachKey cty.Value
}

// fill adds count or each to vars.
func (i *Instance) fill(vars map[string]cty.Value) {
	switch {
	case i.HasCount && i.unknown:
		vars["count"] = cty.ObjectVal(map[string]cty.Value{"index": cty.UnknownVal(cty.Number)})
	case i.HasCount:
		vars["count"] = cty.ObjectVal(map[string]cty.Value{"index": i.Key.Value()})
	case i.HasEach && i.eachKey != cty.NilVal:
		vars["each"] = cty.ObjectVal(map[string]cty.Value{"key": i.eachKey, "value": i.Value})
	case i.HasEach && i.unknown:
		vars["each"] = cty.ObjectVal(map[string]cty.Value{"key": cty.UnknownVal(cty.String), "value": cty.DynamicVal})
	case i.HasEach:
		vars["each"] = cty.ObjectVal(map[string]cty.Value{"key": i.Key.Value(), "value": i.Value})
	}
}

// Modules returns the instances of a module, in order.
func (e *Evaluator) Modules(m *config.Module) ([]addrs.ModuleInstance, diags.Diagnostics) {
	if m.Parent == nil {
		return []addrs.ModuleInstance{addrs.RootModuleInstance}, nil
	}
	parents, ds := e.Modules(m.Parent)
	var out []addrs.ModuleInstance
	for _, p := range parents {
		ins, more := e.callInstances(p, m.Call.Name)
		ds = append(ds, more...)
		for i := range ins {
			out = append(out, p.Child(m.Call.Name, ins[i].Key))
		}
	}
	return out, ds
}

// callInstances returns the instances of a call, and makes frames for them.
func (e *Evaluator) callInstances(in addrs.ModuleInstance, name string) ([]Instance, diags.Diagnostics) {
	c, ds := e.get(cellKey{in, addrs.KindCall, name}, func(c *cell) (ds diags.Diagnostics) {
		f := e.frame(in)
		child := f.module.Children[name]
		call := f.module.Calls[name]
		var keys []addrs.InstanceKey
		known := false
		if e.w.CallKeys != nil {
			keys, known = e.w.CallKeys(in, name)
		}
		if child == nil {
			return diags.Reported() // the module could not be loaded
		}
		c.instances, ds = e.expand(call.Repetition, Scope{Module: in}, keys, known)
		e.mu.Lock()
		defer e.mu.Unlock()
		for i := range c.instances {
			x := &c.instances[i]
			e.frames[in.Child(name, x.Key)] = &frame{module: child, parent: in, instance: x, dir: child.Dir}
		}
		return ds
	})
	return c.instances, ds
}

// CallInstances returns the instances of a module call.
func (e *Evaluator) CallInstances(in addrs.ModuleInstance, name string) ([]Instance, diags.Diagnostics) {
	return e.callInstances(in, name)
}

// ResourceInstances returns the instances of a resource, in order.
func (e *Evaluator) ResourceInstances(in addrs.ModuleInstance, r *config.Resource) ([]Instance, diags.Diagnostics) {
	var keys []addrs.InstanceKey
	known := false
	if e.w.ResourceKeys != nil {
		keys, known = e.w.ResourceKeys(addrs.AbsResource{Module: in, Resource: r.Addr})
	}
	return e.expand(r.Repetition, Scope{Module: in}, keys, known)
}

// expand evaluates count, for_each or enabled. keys are what was decided before, if known.
func (e *Evaluator) expand(r config.Repetition, s Scope, keys []addrs.InstanceKey, known bool) ([]Instance, diags.Diagnostics) {
	switch {
	case r.Count != nil && known:
		out := make([]Instance, len(keys))
		for i, k := range keys {
			out[i] = Instance{Key: k, HasCount: true}
		}
		return out, nil
	case r.Count != nil:
		v, ds := e.Expr(r.Count, s)
		if ds.HasErrors() {
			return nil, ds
		}
		n, more := e.count(v, r.Count)
		if ds = append(ds, more...); ds.HasErrors() {
			return nil, ds
		}
		if e.w.Static {
			return []Instance{{HasCount: true, unknown: true}}, ds
		}
		if ds = append(ds, e.instances(s, r.Count, n)...); ds.HasErrors() {
			return nil, ds
		}
		out := make([]Instance, n)
		for i := range out {
			out[i] = Instance{Key: addrs.IntKey(i), HasCount: true}
		}
		return out, ds
	case r.ForEach != nil:
		v, ds := e.Expr(r.ForEach, s)
		if ds.HasErrors() {
			return nil, ds
		}
		if n, counted := lengthOf(v); counted && !known {
			if ds = append(ds, e.instances(s, r.ForEach, n)...); ds.HasErrors() {
				return nil, ds
			}
		}
		out, more := e.forEach(v, r.ForEach, keys, known)
		return out, append(ds, more...)
	case known:
		out := make([]Instance, len(keys))
		for i, k := range keys {
			out[i] = Instance{Key: k}
		}
		return out, nil
	case r.Enabled != nil:
		on, ds := e.enabled(r.Enabled, s)
		if ds.HasErrors() || !on {
			return nil, ds
		}
		return []Instance{{}}, ds
	}
	return []Instance{{}}, nil
}

// lengthOf returns how many elements a value has, if it has any.
func lengthOf(v cty.Value) (int, bool) {
	v, _ = v.Unmark()
	if !v.IsKnown() || v.IsNull() || !v.CanIterateElements() {
		return 0, false
	}
	return v.LengthInt(), true
}

// count returns the number that a count argument means.
func (e *Evaluator) count(v cty.Value, x hcl.Expression) (int, diags.Diagnostics) {
	bad := func(detail string, args ...any) (int, diags.Diagnostics) {
		ds := diags.Errorf(x.Range().Ptr(), "Invalid count argument", detail, args...)
		ds[0].Expression = x
		return 0, ds
	}
	if marks.Has(v, ephemeral) {
		return bad(`The given "count" is derived from an ephemeral value, which means that it can be different in each run. Use only values that stay the same to decide how many instances there are.`)
	}
	v, _ = v.Unmark() // a sensitive count shows in the number of instances, and may
	if v.IsNull() {
		return bad(`The given "count" argument value is null. An integer is required.`)
	}
	v, err := convert.Convert(v, cty.Number)
	if err != nil {
		_, ds := bad(`The expression does not give a number of instances: %s.`, err)
		ds[0].Summary = "Incorrect value type"
		return 0, ds
	}
	if !v.IsKnown() {
		if e.w.Static {
			return 0, nil
		}
		return bad(`The "count" value depends on resource attributes that cannot be determined until apply, so it cannot be predicted how many instances will be created. To work around this, use the -target argument to first apply only the resources that the count depends on.`)
	}
	f, acc := v.AsBigFloat().Int64()
	switch {
	case acc != 0 && !v.AsBigFloat().IsInt():
		return bad(`The given "count" argument value is unsuitable: a whole number is required.`)
	case f < 0:
		return bad(`The given "count" argument value is unsuitable: must be greater than or equal to zero.`)
	case f > math.MaxInt32:
		return bad(`The given "count" argument value is unsuitable: there cannot be so many instances.`)
	}
	return int(f), nil
}

// forEach returns the instances that a for_each argument means.
func (e *Evaluator) forEach(v cty.Value, x hcl.Expression, keys []addrs.InstanceKey, known bool) ([]Instance, diags.Diagnostics) {
	bad := func(detail string, args ...any) ([]Instance, diags.Diagnostics) {
		ds := diags.Errorf(x.Range().Ptr(), "Invalid for_each argument", detail, args...)
		ds[0].Expression = x
		return nil, ds
	}
	if marks.Has(v, ephemeral) {
		return bad(`The given "for_each" value is derived from an ephemeral value, which means that it can be different in each run. Use only values that stay the same as instance keys.`)
	}
	if marks.Has(v, marks.Sensitive) {
		return bad(`Sensitive values, or values derived from sensitive values, cannot be used as for_each arguments. If used, the sensitive value could be exposed as a resource instance key.`)
	}
	v, _ = v.Unmark()
	ty := v.Type()
	if v.IsKnown() && v.IsNull() {
		return bad(`The given "for_each" argument value is unsuitable: the given "for_each" argument value is null. A map, or set of strings is allowed.`)
	}
	if ty != cty.DynamicPseudoType && !ty.IsMapType() && !ty.IsObjectType() && !ty.IsSetType() {
		return bad(`The given "for_each" argument value is unsuitable: the "for_each" argument must be a map, or set of strings, and you have provided a value of type %s.`, ty.FriendlyName())
	}
	if !v.IsKnown() {
		if e.w.Static {
			return []Instance{{HasEach: true, unknown: true, Value: cty.DynamicVal}}, nil
		}
		if known {
			out := make([]Instance, len(keys))
			for i, k := range keys {
				out[i] = Instance{Key: k, HasEach: true, Value: cty.DynamicVal}
			}
			return out, nil
		}
		what := "map includes keys derived from resource attributes"
		if ty.IsSetType() {
			what = "set includes values derived from resource attributes"
		}
		return bad(`The "for_each" %s that cannot be determined until apply, and so the full set of keys that will identify the instances cannot be known. Use a map value where the keys are defined statically in your configuration and where only the values contain apply-time results, or use the -target argument to first apply only the resources that the for_each value depends on.`, what)
	}
	if ty.IsSetType() {
		return e.forEachSet(v, bad)
	}
	elems := v.AsValueMap()
	if e.w.Static {
		return []Instance{{HasEach: true, unknown: true, Value: cty.DynamicVal}}, nil
	}
	out := make([]Instance, 0, len(elems))
	if known {
		for _, k := range keys {
			s, _ := k.Str()
			val, ok := elems[s]
			if !ok {
				return bad(`The plan has an instance %s that is not in the "for_each" value any more. This is a bug in Lockstep: please report it.`, k)
			}
			out = append(out, Instance{Key: k, HasEach: true, Value: val})
		}
		return out, nil
	}
	for _, k := range slices.Sorted(maps.Keys(elems)) {
		out = append(out, Instance{Key: addrs.StringKey(k), HasEach: true, Value: elems[k]})
	}
	return out, nil
}

// forEachSet returns the instances for a set, which must hold known strings.
func (e *Evaluator) forEachSet(v cty.Value, bad func(string, ...any) ([]Instance, diags.Diagnostics)) ([]Instance, diags.Diagnostics) {
	if et := v.Type().ElementType(); et != cty.String && v.LengthInt() > 0 && et != cty.DynamicPseudoType {
		return nil, rename(bad(`The given "for_each" argument value is unsuitable: "for_each" supports maps and sets of strings, but you have provided a set containing type %s.`, et.FriendlyName()))
	}
	var out []Instance
	for it := v.ElementIterator(); it.Next(); {
		_, x := it.Element()
		x, _ = x.Unmark()
		switch {
		case !x.IsKnown() && e.w.Static:
			return []Instance{{HasEach: true, unknown: true, Value: cty.DynamicVal}}, nil
		case !x.IsKnown():
			return bad(`The "for_each" set includes values derived from resource attributes that cannot be determined until apply, and so the full set of keys that will identify the instances cannot be known. Use a map value where the keys are defined statically in your configuration, or use the -target argument to first apply only the resources that the for_each value depends on.`)
		case x.IsNull():
			return nil, rename(bad(`The given "for_each" argument value is unsuitable: "for_each" sets must not contain null values.`))
		}
		out = append(out, Instance{Key: addrs.StringKey(x.AsString()), HasEach: true, Value: x})
	}
	if e.w.Static {
		return []Instance{{HasEach: true, unknown: true, Value: cty.DynamicVal}}, nil
	}
	slices.SortFunc(out, func(a, b Instance) int { return a.Key.Compare(b.Key) })
	return out, nil
}

func rename(_ []Instance, ds diags.Diagnostics) diags.Diagnostics {
	ds[0].Summary = "Invalid for_each set argument"
	return ds
}

// call returns the value of a module call with the outputs wanted.
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
	if r := f.module.Calls[name].Repetition; e.w.Static && (r.Count != nil || r.ForEach != nil) {
		return anyInstances(r, outs), nil
	}
	c, ds := e.get(cellKey{in, addrs.KindInside, callKey(name, outs)}, func(c *cell) diags.Diagnostics {
		ins, ds := e.callInstances(in, name)
		if ds.HasErrors() {
			return ds
		}
		vals := make([]cty.Value, len(ins))
		for i := range ins {
			sub := in.Child(name, ins[i].Key)
			attrs := make(map[string]cty.Value, len(outs))
			for _, o := range outs {
				v, more := e.Output(sub, o)
				ds = append(ds, more...)
				if e.w.Static {
					v = cty.DynamicVal // what a module returns is for planning to say
				}
				attrs[o] = v
			}
			vals[i] = cty.ObjectVal(attrs)
		}
		c.val = e.collect(f.module.Calls[name].Repetition, ins, vals)
		return ds
	})
	return c.val, ds
}

// anyInstances returns what is known of a repeated call whatever its instances are.
func anyInstances(r config.Repetition, outs []string) cty.Value {
	types := make(map[string]cty.Type, len(outs))
	for _, o := range outs {
		types[o] = cty.DynamicPseudoType
	}
	if r.Count != nil {
		return cty.UnknownVal(cty.List(cty.Object(types)))
	}
	return cty.UnknownVal(cty.Map(cty.Object(types)))
}

// CollectResource makes the value of a resource of those of its instances. An ephemeral
// one is ephemeral as a whole: not even how many there are may be kept.
func (e *Evaluator) CollectResource(r *config.Resource, ins []Instance, vals []cty.Value) cty.Value {
	v := e.collect(r.Repetition, ins, vals)
	if r.Addr.Mode == addrs.Ephemeral {
		v = v.Mark(marks.Ephemeral)
	}
	return v
}

// collect makes one value of the values of a block's instances: a tuple for count,
// an object for for_each, null for what is not enabled.
func (e *Evaluator) collect(r config.Repetition, ins []Instance, vals []cty.Value) cty.Value {
	switch {
	case (r.Count != nil || r.ForEach != nil) && e.w.Static:
		return cty.DynamicVal
	case r.Count != nil:
		return cty.TupleVal(vals)
	case r.ForEach != nil:
		m := make(map[string]cty.Value, len(vals))
		for i := range ins {
			s, ok := ins[i].Key.Str()
			if !ok {
				panic(fmt.Sprintf("eval: for_each made the key %v", ins[i].Key))
			}
			m[s] = vals[i]
		}
		return cty.ObjectVal(m)
	case len(vals) == 1:
		return vals[0]
	case r.Enabled != nil:
		return cty.NullVal(cty.DynamicPseudoType)
	}
	return cty.DynamicVal
}

// Variables returns what count or each means in the instance, by root name.
func (i *Instance) Variables() map[string]cty.Value {
	vars := map[string]cty.Value{}
	i.fill(vars)
	return vars
}

// ForEach returns the instances that a for_each argument means in a scope.
func (e *Evaluator) ForEach(x hcl.Expression, s Scope) ([]Instance, diags.Diagnostics) {
	return e.expand(config.Repetition{ForEach: x}, s, nil, false)
}

// ImportForEach returns what each means, one after the other, by the for_each argument of an import
// block. Other than elsewhere, lists and sets of anything will do, null means nothing, and sensitive
// values are no secret: the addresses are not made of them. But all must be known.
// Source: Terraform 1.11.4.
func (e *Evaluator) ImportForEach(x hcl.Expression, s Scope) ([]Instance, diags.Diagnostics) {
	v, ds := e.Expr(x, s)
	if ds.HasErrors() {
		return nil, ds
	}
	bad := func(detail string) ([]Instance, diags.Diagnostics) {
		more := diags.Errorf(x.Range().Ptr(), "Invalid for_each argument", "%s", detail)
		more[0].Expression = x
		return nil, append(ds, more...)
	}
	switch {
	case marks.Contains(v, ephemeral):
		return bad(`The given "for_each" value is derived from an ephemeral value, which means that it can be different in each run.`)
	case e.w.Static && !v.IsWhollyKnown():
		return []Instance{{HasEach: true, eachKey: cty.DynamicVal, Value: cty.DynamicVal}}, ds
	case !v.IsWhollyKnown():
		return bad(`The "for_each" value depends on resource attributes that cannot be determined until apply, so it cannot be known what is to be imported. All of it must be known, values included.`)
	case v.IsNull():
		return nil, ds
	}
	v, outer := v.Unmark()
	if !v.CanIterateElements() {
		return bad(`The given "for_each" argument value is unsuitable: a map, a set or a list is required.`)
	}
	if ds = append(ds, e.instances(s, x, v.LengthInt())...); ds.HasErrors() {
		return nil, ds
	}
	var out []Instance
	for it := v.ElementIterator(); it.Next(); {
		k, el := it.Element()
		out = append(out, Instance{HasEach: true, eachKey: k, Value: el.WithMarks(outer)})
	}
	return out, ds
}
