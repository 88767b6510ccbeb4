package planning

import (
	"context"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// block is a resource block while it is visited: the schema and the provider configuration that all
// its instances have in common.
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

// open finds the schema of a block and opens its provider configuration. It is done once for all
// instances, unless each instance chooses one by for_each in the provider block: then client is nil, and
// [block.forInstance] or [block.forObject] finds it.
func (p *planner) open(ctx context.Context, m *config.Module, r *config.Resource) (*block, diags.Diagnostics) {
	b := &block{p: p, m: m, r: r, cr: addrs.ConfigResource{Module: m.Addr, Resource: r.Addr}, use: m.ResourceUse(r)}
	b.pc = b.use.Config
	b.cbd = p.forced[b.cr]
	var ds diags.Diagnostics
	b.rs, b.ps, ds = p.s.Schema(ctx, b.pc.Provider, r.Addr, r.TypeRange.Ptr())
	if ds.HasErrors() {
		return nil, ds
	}
	if ds = append(ds, selfReference(p.in.Refs, r, b.cr)...); ds.HasErrors() {
		return nil, ds
	}
	if b.use.Key != nil {
		return b, ds
	}
	var more diags.Diagnostics
	b.client, more = p.s.Client(ctx, b.pc)
	return b, append(ds, more...)
}

// place adds the address of an instance to diagnostics of its provider, and the source range of the
// attribute they are about.
func (b *block) place(ds diags.Diagnostics, addr addrs.AbsResourceInstance) diags.Diagnostics {
	return b.p.s.Place(ds, b.r, b.rs, addr.String())
}

// complete adds the address of an instance to diagnostics that have neither an address nor a source
// range.
func (b *block) complete(ds diags.Diagnostics, addr addrs.AbsResourceInstance) diags.Diagnostics {
	return b.p.s.Complete(ds, b.r, b.rs, addr.String())
}

// selfReference reports references of a resource block to itself. They count by resource, not by
// instance: a[1] cannot refer to a[0].
func selfReference(rs *refs.Refs, r *config.Resource, cr addrs.ConfigResource) diags.Diagnostics {
	var ds diags.Diagnostics
	list := rs.OfBlock(r)
	for _, x := range r.Repetition.Expressions() {
		list = append(list[:len(list):len(list)], rs.OfExpr(x)...)
	}
	for _, ref := range list {
		if ref.Object.Kind == addrs.KindResource && ref.Object.Res == r.Addr {
			ds = append(ds, diags.Errorf(ref.Named().Ptr(), "Self-referential block",
				"Configuration for %s may not refer to itself.", cr)...)
		}
	}
	return ds
}

// forInstance returns the block with the provider configuration of a declared instance. Only with
// for_each in the provider block may it differ from instance to instance.
func (b *block) forInstance(ctx context.Context, addr addrs.AbsResourceInstance, scope eval.Scope) (*block, diags.Diagnostics) {
	if b.use.Key == nil {
		return b, nil
	}
	pc, ds := b.p.s.InstanceProvider(b.use, scope)
	if ds.HasErrors() {
		return nil, b.complete(ds, addr)
	}
	out, more := b.with(ctx, pc)
	return out, append(ds, more...)
}

// forObject returns the block with the provider configuration of an instance of the state: the one
// that is stored with it, if each instance has its own. An expression that could choose one is of no use
// here, as the instance need not be declared any more. So a provider instance can be taken out of
// the configuration only after the objects that it has made.
func (b *block) forObject(ctx context.Context, addr addrs.AbsResourceInstance) (*block, diags.Diagnostics) {
	if b.client != nil {
		return b, nil
	}
	pc := b.p.prior.InstanceProvider(addr)
	if !b.p.s.HasProvider(pc) {
		return nil, session.NoProvider(pc, addr.String())
	}
	return b.with(ctx, pc)
}

// with returns the block with a provider configuration, opened.
func (b *block) with(ctx context.Context, pc addrs.AbsProviderConfig) (*block, diags.Diagnostics) {
	out := *b
	out.pc = pc
	var ds diags.Diagnostics
	out.client, ds = b.p.s.Client(ctx, pc)
	return &out, ds
}
