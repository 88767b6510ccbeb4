package planning

import (
	"context"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/session"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// wanted returns the block for an instance of it that is wanted: with the provider
// configuration that the instance has.
func (b *block) wanted(ctx context.Context, j *job) (*block, diags.Diagnostics) {
	if b.use.Key == nil {
		return b, nil
	}
	pc, ds := b.p.s.InstanceProvider(b.use, j.scope)
	if ds.HasErrors() {
		return nil, b.complete(ds, j.addr)
	}
	out, more := b.with(ctx, pc)
	return out, append(ds, more...)
}

// stored returns the block for an instance that only the state has: with the provider
// configuration that is stored with it, where each instance has one of its own.
func (b *block) stored(ctx context.Context, addr addrs.AbsResourceInstance) (*block, diags.Diagnostics) {
	if b.client != nil {
		return b, nil
	}
	b.p.mu.Lock()
	pc := b.p.prior.Current().Resource(addr.AbsResource()).ProviderOf(addr.Resource.Key)
	b.p.mu.Unlock()
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

// ownProviders reports whether the state has a provider configuration of its own for an
// instance.
func ownProviders(r *states.Resource) bool {
	for _, in := range r.Instances {
		if in.Provider != "" {
			return true
		}
	}
	return false
}
