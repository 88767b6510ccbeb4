package planning

import (
	"context"
	"fmt"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/session"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// Import brings one object into the state by its ID, without planning anything:
// the `import` command. The configuration must have a block for it.
func Import(ctx context.Context, in Input, addr addrs.AbsResourceInstance, id string) (*states.State, diags.Diagnostics) {
	m := in.Config.Modules[addr.Module.Module()]
	if m == nil || m.Resources[addr.Resource.Resource] == nil || addr.Resource.Resource.Mode != addrs.Managed {
		return in.State, diags.Errorf(nil, "Resource address does not exist in the configuration",
			"Before importing %s, please create its configuration: a block\n\n    resource %q %q {\n      # (resource arguments)\n    }", addr, addr.Resource.Resource.Type, addr.Resource.Resource.Name)
	}
	p := newPlanner(ctx, in)
	p.stored = &storedValues{p: p, reads: true}
	p.s.Known = true
	b, ds := p.open(ctx, m, m.Resources[addr.Resource.Resource])
	if !ds.HasErrors() {
		var more diags.Diagnostics
		if more = p.wantedInstance(m, b.r, addr); !more.HasErrors() {
			if b, more = p.importer(ctx, b, addr); !more.HasErrors() {
				more = append(more, p.fetch(ctx, b, addr, id)...)
			}
		}
		if ds = append(ds, more...); !ds.HasErrors() {
			ds = append(ds, p.recordOutputs()...)
		}
	}
	ds = append(ds, p.found...)
	ds = append(ds, p.s.Diagnostics()...)
	ds = append(ds, p.s.Eval.Diagnostics()...)
	return p.prior.State(), ds.Unreported()
}

// wantedInstance checks that the configuration has an instance with that key.
func (p *planner) wantedInstance(m *config.Module, r *config.Resource, addr addrs.AbsResourceInstance) diags.Diagnostics {
	if !p.moduleExists(addr.Module) {
		return diags.Errorf(nil, "Configuration for import target does not exist", "The module instance %s does not exist in the configuration.", addr.Module)
	}
	ins, ds := p.s.Eval.ResourceInstances(addr.Module, r)
	if ds.HasErrors() {
		return ds
	}
	for i := range ins {
		if ins[i].Key == addr.Resource.Key {
			return ds
		}
	}
	return append(ds, diags.Errorf(&r.Range, "Configuration for import target does not exist",
		"The configuration for %s does not produce the instance %s: check its count or for_each.", addr.AbsResource(), addr)...)
}

// importer returns the block with the provider configuration that an instance has.
func (p *planner) importer(ctx context.Context, b *block, addr addrs.AbsResourceInstance) (*block, diags.Diagnostics) {
	j := &job{in: addr.Module, addr: addr, scope: eval.Scope{Module: addr.Module}}
	ins, _ := p.s.Eval.ResourceInstances(addr.Module, b.r)
	for i := range ins {
		if ins[i].Key == addr.Resource.Key {
			j.scope.Instance = &ins[i]
		}
	}
	return b.wanted(ctx, j)
}

// fetch asks the provider for an object by ID, reads it, and puts it into the prior state.
func (p *planner) fetch(ctx context.Context, b *block, addr addrs.AbsResourceInstance, id string) diags.Diagnostics {
	obj := addrs.ResourceInstanceObject{Instance: addr}
	p.in.Events.Send(events.Event{Kind: events.ImportStart, Addr: obj, ID: id})
	list, ds := b.client.Import(ctx, addr.Resource.Resource.Type, id)
	if ds.HasErrors() {
		return ds
	}
	if p.object(obj) != nil {
		return append(ds, diags.Errorf(nil, "Resource already managed by Lockstep",
			"Lockstep is already managing a remote object for %s. To import to this address you must first remove the existing object from the state.", addr)...)
	}
	for i, x := range list {
		if x.TypeName != addr.Resource.Resource.Type || i > 0 {
			ds = append(ds, diags.Warningf(nil, "Imported object left out",
				"The provider returned a further object, of type %s, for the ID; only objects of the type %s can be imported to %s.", x.TypeName, addr.Resource.Resource.Type, addr)...)
			continue
		}
		more := p.adopt(ctx, b, obj, x, id)
		ds = append(ds, more...)
	}
	if len(list) == 0 {
		ds = append(ds, notImportable(addr, id)...)
	}
	return ds
}

func notImportable(addr addrs.AbsResourceInstance, id string) diags.Diagnostics {
	return diags.Errorf(nil, "Cannot import non-existent remote object",
		"While attempting to import an existing object to %q, the provider detected that no object exists with the given id. Only pre-existing objects can be imported; check that the id %q is correct and that it is associated with the provider's configured region or endpoint.", addr, id)
}

// adopt completes an import stub by a read.
func (p *planner) adopt(ctx context.Context, b *block, obj addrs.ResourceInstanceObject, x provider.Imported, id string) diags.Diagnostics {
	if x.State == cty.NilVal || x.State.IsNull() {
		return notImportable(obj.Instance, id)
	}
	for _, err := range x.State.Type().TestConformance(b.rs.Block.ImpliedType()) {
		return diags.Errorf(nil, "Provider produced invalid object", "The imported value of %s is not valid: %s.", obj, err)
	}
	val, private, ds := b.read(ctx, obj, x.State, &states.Object{Private: x.Private})
	if ds.HasErrors() {
		// Of what was found there is no more: the stock tool calls that drift.
		found := session.MarkSensitive(x.State, b.rs, nil)
		p.drifted(obj, b, plans.Change{Action: plans.Delete, Before: found, After: b.rs.Block.NullValue()})
		return ds
	}
	if val.IsNull() {
		return append(ds, notImportable(obj.Instance, id)...)
	}
	o, err := session.Encode(session.MarkSensitive(val, b.rs, nil), b.rs, session.Encoding{
		Status: states.Ready, Private: private, Dependencies: nil, CreateBeforeDestroy: false,
	})
	if err != nil {
		return append(ds, diags.FromError("Provider produced invalid object", fmt.Errorf("%s: %w", obj, err))...)
	}
	p.setObject(obj, b.pc, o)
	return ds
}

// storedValues gives resources the values that the state has, where nothing is
// planned: for import, and for console.
type storedValues struct {
	p     *planner
	reads bool // data sources that are asked for are read

	mu   sync.Mutex
	read map[*config.Resource]func() diags.Diagnostics // once each
}

// value returns what the state has for a resource.
func (v *storedValues) value(ctx context.Context, a addrs.AbsResource) (cty.Value, diags.Diagnostics) {
	p := v.p
	m := p.in.Config.Modules[a.Module.Module()]
	r := m.Resources[a.Resource]
	if v.reads && a.Resource.Mode == addrs.Data {
		return v.data(ctx, m, r, a)
	}
	if !p.exists(a) {
		return cty.DynamicVal, nil // nothing of it exists, so how many there will be is not known either
	}
	rs, _, ds := p.s.Schema(ctx, m.ResourceProvider(r).Provider, r.Addr, r.TypeRange.Ptr())
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	ins, ds := p.s.Eval.ResourceInstances(a.Module, r)
	if ds.HasErrors() {
		return cty.DynamicVal, nil // how many there are cannot be known now
	}
	vals := make([]cty.Value, len(ins))
	for i := range ins {
		addr := a.Instance(ins[i].Key)
		vals[i] = cty.UnknownVal(rs.Block.ImpliedType())
		if o := p.object(addrs.ResourceInstanceObject{Instance: addr}); o != nil && o.AttrsJSON != nil {
			if x, more := p.s.Stored(addr, rs, o); !more.HasErrors() {
				vals[i] = x
			}
		}
	}
	return p.s.Eval.CollectResource(r, ins, vals), nil
}

// exists reports whether there is anything of a resource by now.
func (p *planner) exists(a addrs.AbsResource) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.prior.Current().Resource(a) != nil
}

// Evaluator returns an evaluator that knows what the state has, for expressions
// typed in by a person. ctx is that of all evaluations.
func Evaluator(ctx context.Context, in Input) *eval.Evaluator {
	p := newPlanner(ctx, in)
	p.stored = &storedValues{p: p}
	return p.s.Eval
}
