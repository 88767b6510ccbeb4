package planning

import (
	"context"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/walk"
)

// expanded is a block with its declared instances.
type expanded struct {
	*block
	jobs []job
	// spans has, for each resource in a module instance, the first of its jobs and the end of its jobs. In
	// every existing module instance, the resource has an entry, even without jobs.
	spans    map[addrs.AbsResource][2]int
	declared map[addrs.AbsResourceInstance]bool
}

// A job is one instance to plan, and the result. Each job is written by one goroutine, and read only after
// all have ended, so jobs need no lock.
type job struct {
	inst eval.Instance
	addr addrs.AbsResourceInstance
	val  cty.Value
	// unchanged is true if the prior state has the value, and val has not: see [expanded.value].
	unchanged bool
	ds        diags.Diagnostics
}

// scope returns the scope of the instance. The slice of jobs must not grow any more.
func (j *job) scope() eval.Scope { return eval.Scope{Module: j.addr.Module, Instance: &j.inst} }

// expand lists the declared instances, and records their keys in the plan.
//
// Instances are listed by module instance, and in each by key. If count or for_each fails in a module
// instance, that module instance is left out, and the errors are returned with the result. Planning the block
// then ends with these errors, but all module instances have been checked.
func (b *block) expand() (*expanded, diags.Diagnostics) {
	ins, ds := b.p.s.Eval.Modules(b.m)
	x := &expanded{block: b, spans: make(map[addrs.AbsResource][2]int, len(ins))}
	for _, in := range ins {
		abs := addrs.AbsResource{Module: in, Resource: b.r.Addr}
		instances, more := b.p.s.Eval.ResourceInstances(in, b.r)
		if ds = append(ds, more...); more.HasErrors() {
			continue
		}
		start := len(x.jobs)
		keys := make([]addrs.InstanceKey, len(instances))
		x.jobs = slices.Grow(x.jobs, len(instances))
		for i := range instances {
			keys[i] = instances[i].Key
			x.jobs = append(x.jobs, job{inst: instances[i], addr: abs.Instance(instances[i].Key)})
		}
		x.spans[abs] = [2]int{start, len(x.jobs)}
		ds = append(ds, b.p.s.Eval.Ready(in, b.r)...)
		b.p.recordKeys(abs, keys)
	}
	x.declared = make(map[addrs.AbsResourceInstance]bool, len(x.jobs))
	for i := range x.jobs {
		x.declared[x.jobs[i].addr] = true
	}
	if !ds.HasErrors() {
		x.declareConditions()
	}
	return x, ds
}

// declares reports whether the configuration declares an instance.
func (x *expanded) declares(a addrs.AbsResourceInstance) bool { return x.declared[a] }

// declareConditions records which instances have conditions, so that conditions that are never evaluated
// count as unknown.
func (x *expanded) declareConditions() {
	n := len(x.r.Preconditions) + len(x.r.Postconditions)
	if n == 0 {
		return
	}
	x.p.s.Eval.Declare(eval.Subject{Kind: "resource", Config: x.cr.String()}, 0)
	for i := range x.jobs {
		x.p.s.Eval.Declare(session.ResourceSubject(x.jobs[i].addr), n)
	}
}

// each calls plan for each selected instance, with the block as it is for this instance. Instances that are
// not selected get their values from the state.
func (x *expanded) each(ctx context.Context, plan func(context.Context, *block, *job) (cty.Value, diags.Diagnostics)) diags.Diagnostics {
	ds := each(ctx, len(x.jobs), func(ctx context.Context, i int) {
		j := &x.jobs[i]
		if !x.p.selected.hasInstance(j.addr) {
			j.val = x.storedValue(ctx, j.addr)
			return
		}
		b, ds := x.forInstance(ctx, j.addr, j.scope())
		if j.ds = ds; ds.HasErrors() {
			return
		}
		j.val, ds = plan(ctx, b, j)
		j.ds = b.complete(slices.Concat(j.ds, ds), j.addr)
	})
	for i := range x.jobs {
		ds = append(ds, x.jobs[i].ds...)
	}
	return ds
}

// collect sets the value of the resource in each module instance. Without instances the value is an empty
// tuple or object, not an error. In a complete plan the value has all declared instances. In a plan that may
// leave out instances, it has those that will exist.
func (x *expanded) collect(ctx context.Context) {
	managed, data := x.r.Addr.Mode == addrs.Managed, x.r.Addr.Mode == addrs.Data
	remaining := x.p.selected.Partial() && (managed || data) || x.p.in.Mode == plans.RefreshOnlyMode && managed
	for abs, span := range x.spans {
		jobs := x.jobs[span[0]:span[1]]
		if remaining {
			jobs = x.remaining(ctx, abs, jobs)
		}
		keys, collected := x.collected(abs, jobs)
		x.p.values.Set(abs, keys, collected)
	}
}

// collected returns the instance keys of some jobs, and the function that collects the value of their resource.
// The function is called only if an expression refers to the resource. It does not keep the jobs, which are
// large.
func (x *expanded) collected(abs addrs.AbsResource, jobs []job) ([]addrs.InstanceKey, func() cty.Value) {
	keys := make([]addrs.InstanceKey, len(jobs))
	changed := map[int]cty.Value{}
	for i := range jobs {
		if keys[i] = jobs[i].inst.Key; !jobs[i].unchanged {
			changed[i] = jobs[i].val
		}
	}
	return keys, func() cty.Value {
		insts := make([]eval.Instance, len(keys))
		vals := make([]cty.Value, len(keys))
		for i, k := range keys {
			v, ok := changed[i]
			if !ok {
				v = x.unchangedValue(abs.Instance(k))
			}
			insts[i], vals[i] = eval.Instance{Key: k}, v
		}
		return x.p.s.Eval.CollectResource(x.r, insts, vals)
	}
}

// unchangedValue returns the value of an instance that does not change, from the prior state.
func (x *expanded) unchangedValue(a addrs.AbsResourceInstance) cty.Value {
	o := x.p.prior.Object(addrs.ResourceInstanceObject{Instance: a})
	v, err := x.rs.Stored(o.AttrsJSON, o.Sensitive)
	if err != nil {
		panic("planning: " + a.String() + " was encoded, but cannot be decoded: " + err.Error())
	}
	return x.rs.Block.Referred(v)
}

// remaining returns the instances of a resource that will exist after an apply of the plan: the selected
// ones, and those in the state that will not be deleted.
//
// In a complete plan, these are the declared instances. A partial plan (-target) may leave a declared
// instance uncreated, or an undeclared one undeleted. An expression such as length(a) must then agree with
// the state after the apply, not with the configuration: outputs are recorded from that state. A refresh
// creates nothing, so only the state counts there.
func (x *expanded) remaining(ctx context.Context, abs addrs.AbsResource, jobs []job) []job {
	declared := make([]addrs.InstanceKey, len(jobs))
	vals := make(map[addrs.InstanceKey]cty.Value, len(jobs))
	present := map[addrs.InstanceKey]bool{}
	for _, a := range x.p.prior.Instances(abs) {
		present[a.Resource.Key] = !x.p.changes.Leaves(a)
	}
	for i := range jobs {
		k := jobs[i].inst.Key
		declared[i] = k
		if vals[k] = jobs[i].val; jobs[i].unchanged {
			vals[k] = x.unchangedValue(jobs[i].addr)
		}
		if x.p.in.Mode != plans.RefreshOnlyMode && x.p.selected.hasInstance(jobs[i].addr) {
			present[k] = true
		}
	}
	maps.DeleteFunc(present, func(_ addrs.InstanceKey, is bool) bool { return !is })
	var out []job
	for _, k := range session.Existing(x.r.Repetition, declared, slices.Collect(maps.Keys(present))) {
		v, ok := vals[k]
		if !ok {
			v = x.storedValue(ctx, abs.Instance(k))
		}
		out = append(out, job{inst: eval.Instance{Key: k}, val: v})
	}
	return out
}

// storedValue returns the value of an instance that is not part of this plan, from the state; unknown if the
// state has none.
func (b *block) storedValue(ctx context.Context, addr addrs.AbsResourceInstance) cty.Value {
	o := b.p.prior.Object(addrs.ResourceInstanceObject{Instance: addr})
	if o == nil {
		return cty.UnknownVal(b.rs.Block.ImpliedType())
	}
	if b, ds := b.forObject(ctx, addr); !ds.HasErrors() {
		if v, ds := b.p.s.Decode(ctx, b.client, addr, b.rs, o); !ds.HasErrors() {
			return v
		}
	}
	// The provider instance of the object no longer exists, or the object cannot be decoded. That is no error:
	// the instance is not part of this plan.
	return cty.UnknownVal(b.rs.Block.ImpliedType())
}

// each calls do for n instances, as many at a time as the walk allows. It returns an error if the walk was
// interrupted before all of them had begun.
func each(ctx context.Context, n int, do func(context.Context, int)) diags.Diagnostics {
	if err := walk.Each(ctx, n, do); err != nil {
		return diags.Errorf(nil, "Planning was interrupted", "Nothing has been changed: %s.", err)
	}
	return nil
}
