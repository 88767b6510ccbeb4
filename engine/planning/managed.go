package planning

import (
	"context"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/session"
)

// block is what the visit of a resource block needs for all its instances.
type block struct {
	p      *planner
	m      *config.Module
	r      *config.Resource // nil for orphans of a block that is gone
	cr     addrs.ConfigResource
	use    config.ProviderUse
	pc     addrs.AbsProviderConfig // without key where each instance has one of its own
	client provider.Client         // nil then
	rs     *schema.Schema
	ps     *schema.Provider
	cbd    bool
}

// open finds the schema of a block and opens its provider configuration.
func (p *planner) open(ctx context.Context, m *config.Module, r *config.Resource) (*block, diags.Diagnostics) {
	b := &block{p: p, m: m, r: r, cr: addrs.ConfigResource{Module: m.Addr, Resource: r.Addr}, use: m.ResourceUse(r)}
	b.pc = b.use.Config
	b.cbd = p.forced[b.cr]
	var ds diags.Diagnostics
	b.rs, b.ps, ds = p.s.Schema(ctx, b.pc.Provider, r.Addr, r.TypeRange.Ptr())
	if ds.HasErrors() {
		return nil, ds
	}
	if ds = append(ds, p.selfReference(r, b.cr)...); ds.HasErrors() {
		return nil, ds
	}
	if b.use.Key != nil {
		return b, ds
	}
	var more diags.Diagnostics
	b.client, more = p.s.Client(ctx, b.pc)
	return b, append(ds, more...)
}

// place gives what the provider said about an instance its address and place.
func (b *block) place(ds diags.Diagnostics, addr addrs.AbsResourceInstance) diags.Diagnostics {
	return b.p.s.Place(ds, b.r, b.rs, addr.String())
}

// complete gives what has neither the address and the place of the instance.
func (b *block) complete(ds diags.Diagnostics, addr addrs.AbsResourceInstance) diags.Diagnostics {
	return b.p.s.Complete(ds, b.r, b.rs, addr.String())
}

// selfReference reports mentions of a resource in its own block. It is by
// resource, not by instance: a[1] cannot use a[0].
func (p *planner) selfReference(r *config.Resource, cr addrs.ConfigResource) diags.Diagnostics {
	var ds diags.Diagnostics
	list := p.in.Refs.OfBlock(r)
	for _, x := range r.Repetition.Expressions() {
		list = append(list[:len(list):len(list)], p.in.Refs.OfExpr(x)...)
	}
	for _, ref := range list {
		if ref.Object.Kind == addrs.KindResource && ref.Object.Res == r.Addr {
			rng := ref.Range()
			ds = append(ds, diags.Errorf(&rng, "Self-referential block",
				"Configuration for %s may not refer to itself.", cr)...)
		}
	}
	return ds
}

// a job is one instance to plan.
type job struct {
	in    addrs.ModuleInstance
	inst  eval.Instance
	addr  addrs.AbsResourceInstance
	scope eval.Scope
	val   cty.Value
	ds    diags.Diagnostics
}

// expand lists the instances that the configuration wants, and records their keys.
func (b *block) expand() ([]job, map[addrs.AbsResource][2]int, diags.Diagnostics) {
	ins, ds := b.p.s.Eval.Modules(b.m)
	var jobs []job
	spans := make(map[addrs.AbsResource][2]int, len(ins))
	for _, in := range ins {
		abs := addrs.AbsResource{Module: in, Resource: b.r.Addr}
		instances, more := b.p.s.Eval.ResourceInstances(in, b.r)
		if ds = append(ds, more...); more.HasErrors() {
			continue
		}
		start := len(jobs)
		keys := make([]addrs.InstanceKey, len(instances))
		for i := range instances {
			keys[i] = instances[i].Key
			jobs = append(jobs, job{in: in, inst: instances[i], addr: abs.Instance(instances[i].Key)})
			j := &jobs[len(jobs)-1]
			j.scope = eval.Scope{Module: in, Instance: &j.inst}
		}
		spans[abs] = [2]int{start, len(jobs)}
		ds = append(ds, b.p.s.Eval.Ready(in, b.r)...)
		b.p.mu.Lock()
		b.p.instances.Resources[abs] = keys
		b.p.mu.Unlock()
	}
	for i := range jobs { // the slice has grown: point into it as it is now
		jobs[i].scope.Instance = &jobs[i].inst
	}
	if !ds.HasErrors() {
		b.declare(jobs)
	}
	return jobs, spans, ds
}

// declare records that the instances have conditions.
func (b *block) declare(jobs []job) {
	n := len(b.r.Preconditions) + len(b.r.Postconditions)
	if n == 0 {
		return
	}
	b.p.s.Eval.Declare(eval.Subject{Kind: "resource", Config: b.cr.String()}, 0)
	for i := range jobs {
		b.p.s.Eval.Declare(session.ResourceSubject(jobs[i].addr), n)
	}
}

// visitManaged plans all instances of a resource block, and the deletion of those
// that the state has and the configuration no longer wants.
func (p *planner) visitManaged(ctx context.Context, m *config.Module, r *config.Resource) diags.Diagnostics {
	b, ds := p.open(ctx, m, r)
	if ds.HasErrors() {
		return ds
	}
	jobs, spans, more := b.expand()
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	if more := p.importTargets(b, spans, jobs); len(more) > 0 {
		if ds = append(ds, more...); ds.HasErrors() {
			return ds
		}
	}
	wanted := make(map[addrs.AbsResourceInstance]bool, len(jobs))
	for i := range jobs {
		wanted[jobs[i].addr] = true
	}
	interrupted := each(ctx, len(jobs), func(ctx context.Context, i int) {
		j := &jobs[i]
		if !p.selected.HasInstance(j.addr) {
			j.val = b.outside(ctx, j.addr)
			return
		}
		b, ds := b.wanted(ctx, j)
		if j.ds = ds; ds.HasErrors() {
			return
		}
		x := &instance{block: b, addr: j.addr, scope: j.scope}
		j.val, ds = x.plan(ctx)
		j.ds = b.complete(slices.Concat(j.ds, ds, b.deposed(ctx, j.addr)), j.addr)
	})
	ds = append(ds, interrupted...)
	for i := range jobs {
		ds = append(ds, jobs[i].ds...)
	}
	ds = append(ds, b.orphans(ctx, wanted, spans)...)
	switch {
	case ds.HasErrors():
	case p.selected.Partial() || p.in.Mode == plans.RefreshOnlyMode:
		b.collectExisting(ctx, jobs, spans)
	default:
		b.collect(jobs, spans)
	}
	return ds
}

// collectExisting is collect for where not everything is planned.
func (b *block) collectExisting(ctx context.Context, jobs []job, spans map[addrs.AbsResource][2]int) {
	all := make([]job, 0, len(jobs))
	found := make(map[addrs.AbsResource][2]int, len(spans))
	for abs, span := range spans {
		part := jobs[span[0]:span[1]]
		wanted := make([]addrs.InstanceKey, len(part))
		vals := make(map[addrs.InstanceKey]cty.Value, len(part))
		there := b.p.existing(abs)
		for i := range part {
			k := part[i].inst.Key
			wanted[i], vals[k] = k, part[i].val
			if b.p.in.Mode != plans.RefreshOnlyMode && b.p.selected.HasInstance(part[i].addr) {
				there[k] = true
			}
		}
		start := len(all)
		for _, k := range session.Existing(b.r.Repetition, wanted, slices.Collect(maps.Keys(there))) {
			v, ok := vals[k]
			if !ok {
				v = b.outside(ctx, abs.Instance(k))
			}
			all = append(all, job{inst: eval.Instance{Key: k}, val: v})
		}
		found[abs] = [2]int{start, len(all)}
	}
	b.collect(all, found)
}

// existing returns the keys of the instances that the prior state has of a resource, less
// those that are going to be deleted.
func (p *planner) existing(abs addrs.AbsResource) map[addrs.InstanceKey]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	there := map[addrs.InstanceKey]bool{}
	if r := p.prior.Current().Resource(abs); r != nil {
		for k := range r.Instances {
			if c := p.changeOf[abs.Instance(k)]; c == nil || c.Action != plans.Delete && c.Action != plans.Forget {
				there[k] = true
			}
		}
	}
	return there
}

// collect makes the value of the resource in each module instance.
func (b *block) collect(jobs []job, spans map[addrs.AbsResource][2]int) {
	for abs, span := range spans {
		part := jobs[span[0]:span[1]]
		insts := make([]eval.Instance, len(part))
		vals := make([]cty.Value, len(part))
		for i := range part {
			insts[i], vals[i] = part[i].inst, part[i].val
			if vals[i] == cty.NilVal {
				vals[i] = cty.UnknownVal(b.rs.Block.ImpliedType())
			}
		}
		v := b.p.s.Eval.CollectResource(b.r, insts, vals)
		b.p.mu.Lock()
		b.p.values[abs] = v
		b.p.mu.Unlock()
	}
}

// outside returns the value of an instance that is not part of this plan: what
// the state has, or an unknown one.
func (b *block) outside(ctx context.Context, addr addrs.AbsResourceInstance) cty.Value {
	o := b.p.object(addrs.ResourceInstanceObject{Instance: addr})
	if o == nil {
		return cty.UnknownVal(b.rs.Block.ImpliedType())
	}
	if b, ds := b.stored(ctx, addr); !ds.HasErrors() {
		if v, ds := b.p.s.Decode(ctx, b.client, addr, b.rs, o); !ds.HasErrors() {
			return v
		}
	}
	return cty.UnknownVal(b.rs.Block.ImpliedType())
}

// record keeps a change, unless everything is going to be destroyed: then it only
// tells those who depend on the object what would have become of it.
func (p *planner) record(c *plans.ResourceChange) {
	if p.in.Mode != plans.DestroyMode {
		p.keep(c)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changing(c)
}

// keep makes a change part of the plan.
func (p *planner) keep(c *plans.ResourceChange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.PrevAddr == (addrs.AbsResourceInstance{}) {
		c.PrevAddr = c.Addr.Instance
		if p.in.Mode != plans.DestroyMode {
			if from, ok := p.moved.Origins[c.Addr.Instance]; ok {
				c.PrevAddr = from
			}
		}
	}
	p.changes = append(p.changes, c)
	if c.Addr.Deposed == addrs.NotDeposed {
		p.changeOf[c.Addr.Instance] = c
	}
	if p.in.Mode != plans.DestroyMode {
		p.changing(c)
	}
	if c.Action != plans.Forget && !(c.Action == plans.NoOp && c.Addr.Deposed != addrs.NotDeposed) {
		p.in.Events.Send(events.Event{Kind: events.Planned, Addr: c.Addr, Action: c.Action})
	}
}

// changing notes that a resource is about to change. The caller holds mu.
func (p *planner) changing(c *plans.ResourceChange) {
	if c.Action != plans.NoOp {
		p.pending[c.Addr.Instance.Config()] = true
		p.pendingAbs[c.Addr.Instance.AbsResource()] = true
	}
}
