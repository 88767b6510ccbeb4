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

// block is a resource block while it is planned: the schema and the provider configuration that all its
// instances share.
type block struct {
	p      *planner
	m      *config.Module
	r      *config.Resource // nil for orphans, which have no block
	cr     addrs.ConfigResource
	use    config.ProviderUse
	pc     addrs.AbsProviderConfig // without key if each instance has its own
	client provider.Client         // nil if each instance has its own
	rs     *schema.Schema
	ps     *schema.Provider
	cbd    bool
	listed *dependencyText // nil for orphans
}

// open finds the schema of a block and opens its provider configuration, once for all instances. If for_each
// in the provider block gives each instance its own configuration, client is nil, and [block.forInstance] or
// [block.forObject] finds the client.
func (p *planner) open(ctx context.Context, m *config.Module, r *config.Resource) (*block, diags.Diagnostics) {
	b := &block{p: p, m: m, r: r, cr: addrs.ConfigResource{Module: m.Addr, Resource: r.Addr}, use: m.ResourceUse(r), listed: &dependencyText{}}
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

// place adds two things to diagnostics from a provider: the address of the instance, and the source range of
// the attribute that each diagnostic is about.
func (b *block) place(ds diags.Diagnostics, addr addrs.AbsResourceInstance) diags.Diagnostics {
	return b.p.s.Place(ds, b.r, b.rs, addr.String())
}

// complete adds the address of an instance to diagnostics that have neither an address nor a source
// range.
func (b *block) complete(ds diags.Diagnostics, addr addrs.AbsResourceInstance) diags.Diagnostics {
	return b.p.s.Complete(ds, b.r, b.rs, addr.String())
}

// selfReference returns errors for references of a resource block to itself. Instances do not matter: a[1]
// cannot refer to a[0].
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

// forInstance returns the block with the provider configuration of a declared instance. The provider
// configuration differs between instances only with for_each in the provider block.
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

// forObject returns the block with the provider configuration of an instance in the state. If each instance
// has its own provider configuration, the result uses the stored one. The expression in the block does not
// help here, since the instance may no longer be declared. So a provider instance can be removed from the
// configuration only after the objects that it has made.
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

// with opens the provider configuration pc, and returns the block with it.
func (b *block) with(ctx context.Context, pc addrs.AbsProviderConfig) (*block, diags.Diagnostics) {
	out := *b
	out.pc = pc
	var ds diags.Diagnostics
	out.client, ds = b.p.s.Client(ctx, pc)
	return &out, ds
}
