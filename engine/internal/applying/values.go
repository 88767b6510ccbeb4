package applying

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

/*
# The value of a resource during an apply

An expression such as a[*].id needs all instances of a resource. Any of them may be unchanged, new, failed, or
not part of the plan. A step with such an expression comes after all steps of the resource. So the value never
changes after its first use, and is computed once.

The exception is a reference with a literal key, such as a[0].id. Its step waits only for that instance, while
steps of other instances may be in progress. Its value contains only the needed instances. For these keys it
must agree with the whole value.

The instances come from the plan, not from the state: an instance that will be deleted is still in the state,
but no expression may see it. A plan of a part (-target), or one that only refreshes, has instances that it
does not create, and leaves others that nothing deletes. In such plans, existing instances count, too
(incomplete).
*/

// values computes the values of resources during an apply from the record. It relies on the order of steps:
// when a value is needed, the resource, or the needed instances, are complete. It carries out no steps. The
// only effect that it has is opening ephemeral resources.
type values struct {
	plan     *plans.Plan
	s        *session.Session
	record   *record
	failures *failures
	report   *report
	planned  plannedInstances
	// namedByOwnActions are the resources that trigger an action whose configuration refers to the same
	// resource. The action is invoked while other instances of the resource are still to be changed. For it,
	// instances that are not made yet are unknown. So Lockstep computes the values of these resources each time.
	namedByOwnActions map[addrs.AbsResource]bool

	mu        sync.Mutex
	keys      map[addrs.AbsResource]map[addrs.InstanceKey]bool // see hasOthers
	partial   map[addrs.AbsResource]map[addrs.InstanceKey]bool // see partialKeys
	whole     map[addrs.AbsResource]*valueCell
	instances map[addrs.AbsResource]*instancesCell
	needed    map[addrs.ConfigResource][]addrs.AbsResource // see openNeeded
}

// A valueCell is the value of a whole resource, computed once.
type valueCell struct {
	once sync.Once
	val  cty.Value
	ds   diags.Diagnostics
}

// An instancesCell has the instances of a resource by key, computed once.
type instancesCell struct {
	once sync.Once
	by   map[addrs.InstanceKey]*eval.Instance
	ds   diags.Diagnostics
}

func newValues(plan *plans.Plan, s *session.Session, r *record, f *failures, rep *report) *values {
	return &values{
		plan: plan, s: s, record: r, failures: f, report: rep, planned: newPlannedInstances(plan),
		keys:      map[addrs.AbsResource]map[addrs.InstanceKey]bool{},
		partial:   map[addrs.AbsResource]map[addrs.InstanceKey]bool{},
		whole:     map[addrs.AbsResource]*valueCell{},
		instances: map[addrs.AbsResource]*instancesCell{},
		needed:    map[addrs.ConfigResource][]addrs.AbsResource{},
	}
}

// resource returns the value of a resource for the evaluator: see [eval.Phase.Resource]. The value of a whole
// resource is computed once.
//
// A stop only ends provider calls for ephemeral resources: after a stop, outputs are still computed from the
// stored objects.
func (v *values) resource(ctx context.Context, abs addrs.AbsResource, only []addrs.InstanceKey) (cty.Value, diags.Diagnostics) {
	if abs.Resource.Mode != addrs.Ephemeral {
		ctx = context.WithoutCancel(ctx)
	}
	if only != nil && v.hasOthers(abs, only) {
		return v.some(ctx, abs, only)
	}
	if v.failures.of(abs, nil) {
		return cty.DynamicVal, diags.Reported()
	}
	if v.namedByOwnActions[abs] {
		val, ds := v.collect(ctx, abs)
		if ds.HasErrors() {
			return cty.DynamicVal, diags.Reported()
		}
		return val, nil
	}
	v.mu.Lock()
	c := v.whole[abs]
	if c == nil {
		c = new(valueCell)
		v.whole[abs] = c
	}
	v.mu.Unlock()
	c.once.Do(func() { c.val, c.ds = v.collect(ctx, abs) })
	if c.ds.HasErrors() {
		return cty.DynamicVal, diags.Reported()
	}
	return c.val, nil
}

// count returns the instance keys in the value of a whole resource: see [eval.Phase.Count]. The result is false if
// only [values.resource] can tell: it reports instances that failed.
func (v *values) count(abs addrs.AbsResource) ([]addrs.InstanceKey, bool) {
	keys, planned := v.plan.Instances.Resources[abs]
	if !planned || abs.Resource.Mode == addrs.Ephemeral || v.incomplete() || v.namedByOwnActions[abs] || v.failures.of(abs, nil) {
		return nil, false
	}
	for _, k := range keys {
		if v.record.object(addrs.ResourceInstanceObject{Instance: abs.Instance(k)}) == nil {
			return nil, false
		}
	}
	return keys, true
}

// hasOthers reports whether the plan has at least two instances of the resource, among them all instances in
// only. It is false for ephemeral resources, which are opened as a whole.
func (v *values) hasOthers(abs addrs.AbsResource, only []addrs.InstanceKey) bool {
	keys := v.plan.Instances.Resources[abs]
	if abs.Resource.Mode == addrs.Ephemeral || len(keys) < 2 {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	known := v.keys[abs]
	if known == nil {
		known = make(map[addrs.InstanceKey]bool, len(keys))
		for _, k := range keys {
			known[k] = true
		}
		v.keys[abs] = known
	}
	return !slices.ContainsFunc(only, func(k addrs.InstanceKey) bool { return !known[k] })
}

// some returns an object with the instances of a resource whose keys are in only. The names of its attributes
// are the keys as strings. The index operator also accepts such strings for a list. The other instances may not
// be complete yet, and collecting thousands of them for each reference would be slow.
func (v *values) some(ctx context.Context, abs addrs.AbsResource, only []addrs.InstanceKey) (cty.Value, diags.Diagnostics) {
	if v.failures.of(abs, only) {
		return cty.DynamicVal, diags.Reported()
	}
	x, ds := v.open(ctx, abs)
	if ds.HasErrors() {
		return cty.DynamicVal, diags.Reported()
	}
	there := v.partialKeys(abs, x.r.Repetition)
	vals := make(map[string]cty.Value, len(only))
	for _, k := range only {
		if there != nil && !there[k] {
			continue
		}
		val, ds := x.value(ctx, k)
		if ds.HasErrors() {
			return cty.DynamicVal, diags.Reported()
		}
		name, err := convert.Convert(k.Value(), cty.String)
		if err != nil {
			panic(fmt.Sprintf("applying: key of %s: %s", abs.Instance(k), err))
		}
		vals[name.AsString()] = val
	}
	return cty.ObjectVal(vals), nil
}

// incomplete reports whether the plan may leave out instances that the configuration has.
func (v *values) incomplete() bool {
	return v.plan.Partial() || v.plan.Mode == plans.RefreshOnlyMode
}

// partialKeys returns the instances that belong to the value of a resource, if the plan may leave out some of
// the resource's instances. It returns nil if the plan leaves out none. The result follows from the plan alone,
// since some instances may not be created yet. At the end it is the same as in [values.collect].
//
// An instance that will be deleted is not included, even if its deletion fails: the value must not depend on
// the time, and a step that was planned without the instance must not see it at apply.
func (v *values) partialKeys(abs addrs.AbsResource, r config.Repetition) map[addrs.InstanceKey]bool {
	if !v.incomplete() {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if out := v.partial[abs]; out != nil {
		return out
	}
	keys := slices.Clone(v.planned.made()[abs])
	if was := v.plan.PriorState.Resource(abs); was != nil {
		for k := range was.Instances {
			if !v.planned.deleted()[abs.Instance(k)] {
				keys = append(keys, k)
			}
		}
	}
	out := map[addrs.InstanceKey]bool{}
	for _, k := range session.Existing(r, v.plan.Instances.Resources[abs], keys) {
		out[k] = true
	}
	v.partial[abs] = out
	return out
}

// collect makes the value of a resource from the values of its instances. If the resource is not part of the
// plan, the value is unknown.
func (v *values) collect(ctx context.Context, abs addrs.AbsResource) (cty.Value, diags.Diagnostics) {
	x, ds := v.open(ctx, abs)
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	keys, planned := v.plan.Instances.Resources[abs]
	if !planned {
		return cty.DynamicVal, nil
	}
	if abs.Resource.Mode != addrs.Ephemeral && v.incomplete() {
		remaining := slices.DeleteFunc(v.record.instances(abs), func(k addrs.InstanceKey) bool { return v.planned.deleted()[abs.Instance(k)] })
		keys = session.Existing(x.r.Repetition, keys, remaining)
	}
	insts := make([]eval.Instance, len(keys))
	vals := make([]cty.Value, len(keys))
	for i, k := range keys {
		insts[i] = eval.Instance{Key: k}
		if vals[i], ds = x.value(ctx, k); ds.HasErrors() {
			return cty.DynamicVal, ds
		}
	}
	return v.s.Eval.CollectResource(x.r, insts, vals), nil
}

// A block is a resource block in a module instance, with its schema.
type block struct {
	v   *values
	abs addrs.AbsResource
	m   *config.Module
	r   *config.Resource
	rs  *schema.Schema
}

// open returns the block of a resource with its schema. The first call reports an error about the schema;
// later calls return [diags.Reported] in its place.
func (v *values) open(ctx context.Context, abs addrs.AbsResource) (block, diags.Diagnostics) {
	m := v.s.Config.Modules[abs.Module.Module()]
	x := block{v: v, abs: abs, m: m, r: m.Resources[abs.Resource]}
	var ds diags.Diagnostics
	x.rs, _, ds = v.s.Schema(ctx, m.ResourceProvider(x.r).Provider, x.r.Addr, x.r.TypeRange.Ptr())
	if ds.HasErrors() {
		v.report.add(ds)
	}
	return x, ds
}

// value returns the value of one instance. An instance that should have been created but does not exist has
// failed; an instance that the plan leaves out is unknown.
func (x block) value(ctx context.Context, k addrs.InstanceKey) (cty.Value, diags.Diagnostics) {
	v, addr := x.v, x.abs.Instance(k)
	if x.abs.Resource.Mode == addrs.Ephemeral {
		val, ds := v.openEphemeral(ctx, x.m, x.r, addr)
		if ds.HasErrors() {
			v.report.add(ds)
		}
		return val, ds
	}
	o := v.record.object(addrs.ResourceInstanceObject{Instance: addr})
	if o == nil {
		if v.plan.Mode == plans.NormalMode && !v.plan.Partial() && !v.namedByOwnActions[x.abs] {
			return cty.DynamicVal, diags.Reported()
		}
		return cty.UnknownVal(x.rs.Block.ImpliedType()), nil
	}
	val, ds := v.s.Stored(addr, x.rs, o)
	if ds.HasErrors() {
		v.report.add(v.s.Complete(ds, x.r, x.rs, addr.String()))
	}
	return val, ds
}

// scope returns the scope of an instance, with its count or each.
func (v *values) scope(addr addrs.AbsResourceInstance, r *config.Resource) (eval.Scope, diags.Diagnostics) {
	// The evaluator must know the module instance before it evaluates anything in it: this call expands the
	// module calls above.
	if _, ds := v.s.Eval.Modules(v.s.Config.Modules[addr.Module.Module()]); ds.HasErrors() {
		return eval.Scope{}, ds
	}
	if r.Count == nil && r.ForEach == nil && r.Enabled == nil {
		return eval.Scope{Module: addr.Module}, nil
	}
	abs := addr.AbsResource()
	v.mu.Lock()
	c := v.instances[abs]
	if c == nil {
		c = new(instancesCell)
		v.instances[abs] = c
	}
	v.mu.Unlock()
	c.once.Do(func() {
		list, ds := v.s.Eval.ResourceInstances(addr.Module, r)
		v.report.add(ds)
		c.by = make(map[addrs.InstanceKey]*eval.Instance, len(list))
		for i := range list {
			c.by[list[i].Key] = &list[i]
		}
		if c.ds = ds; ds.HasErrors() {
			c.ds = diags.Reported()
		}
	})
	if c.ds.HasErrors() {
		return eval.Scope{}, diags.Reported()
	}
	return eval.Scope{Module: addr.Module, Instance: c.by[addr.Resource.Key]}, nil
}
