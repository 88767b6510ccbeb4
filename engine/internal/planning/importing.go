package planning

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/planning/importing"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// Import adds one object to the state by its ID: see [importing.Command]. It reads data sources that a
// provider configuration refers to.
//
// Store the returned state only if there are no errors: it may contain the object even if an output has an
// error.
func Import(ctx context.Context, in Input, addr addrs.AbsResourceInstance, id string) (*states.State, diags.Diagnostics) {
	p := newPlanner(ctx, in)
	p.valueOf = (&dataReader{p: p}).value
	p.s.Known = true
	ds := importing.Command{Session: p.s, Prior: p.prior, Open: p.openImport}.Run(ctx, addr, id)
	ds = append(ds, p.found...)
	ds = append(ds, p.s.Diagnostics()...)
	ds = append(ds, p.s.Eval.Diagnostics()...)
	return p.prior.Editor().State(), ds.Unreported()
}

// openImport opens a block for [importing.Command].
func (p *planner) openImport(ctx context.Context, m *config.Module, r *config.Resource) (importing.OfInstance, diags.Diagnostics) {
	b, ds := p.open(ctx, m, r)
	if ds.HasErrors() {
		return nil, ds
	}
	return func(ctx context.Context, addr addrs.AbsResourceInstance, scope eval.Scope) (*importing.Fetcher, diags.Diagnostics) {
		b, ds := b.forInstance(ctx, addr, scope)
		if ds.HasErrors() {
			return nil, ds
		}
		return b.fetcher(), ds
	}, ds
}

func (b *block) fetcher() *importing.Fetcher {
	return &importing.Fetcher{
		Session: b.p.s, Prior: b.p.prior, Client: b.client, Provider: b.pc, Resource: b.r, Schema: b.rs, Drifted: b.drifted,
	}
}

// importObject adds the object of an instance to the prior state, if an import block asks for it and the
// state has no object of the instance.
func (x *instance) importObject(ctx context.Context) (*plans.Importing, diags.Diagnostics) {
	im, ok := x.p.imports.Of(x.addr)
	if !ok || x.p.prior.Object(x.object()) != nil {
		return nil, nil
	}
	var ds diags.Diagnostics
	if o := x.p.in.Found.Objects[x.addr]; o != nil {
		x.p.prior.SetObject(x.object(), x.pc, o)
	} else if ds = x.fetcher().FetchFor(ctx, x.addr, im); ds.HasErrors() {
		return nil, ds
	}
	x.imported = true
	importing := &plans.Importing{ID: im.Shown(), Identity: im.Identity}
	if whole := x.p.s.StoredIdentity(x.rs, x.p.prior.Object(x.object())); im.Identity != cty.NilVal && whole != cty.NilVal {
		importing.Identity = whole // including attributes that the import block leaves out
	}
	return importing, ds
}
