package planning

import (
	"context"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// Import brings one object into the state by its ID, without planning anything:
// the `import` command. The configuration must have a block for it.
//
// Nothing is known but the state and the configuration, so that values are those of stored objects,
// and the provider configuration must be known from them. The state returned is to be stored only if
// there are no errors: it may have the object already when an output turns out to be wrong.
func Import(ctx context.Context, in Input, addr addrs.AbsResourceInstance, id string) (*states.State, diags.Diagnostics) {
	m := in.Config.Modules[addr.Module.Module()]
	if m == nil || m.Resources[addr.Resource.Resource] == nil || addr.Resource.Resource.Mode != addrs.Managed {
		return in.State, diags.Errorf(nil, "Resource address does not exist in the configuration",
			"Before importing %s, please create its configuration: a block\n\n    resource %q %q {\n      # (resource arguments)\n    }", addr, addr.Resource.Resource.Type, addr.Resource.Resource.Name)
	}
	p := newPlanner(ctx, in)
	p.valueOf = (&dataReader{p: p}).value
	p.s.Known = true
	b, ds := p.open(ctx, m, m.Resources[addr.Resource.Resource])
	if !ds.HasErrors() {
		var more diags.Diagnostics
		if more = b.checkInstance(addr); !more.HasErrors() {
			if b, more = b.importer(ctx, addr); !more.HasErrors() {
				more = append(more, b.fetch(ctx, addr, id)...)
			}
		}
		if ds = append(ds, more...); !ds.HasErrors() {
			ds = append(ds, p.recordOutputs()...)
		}
	}
	ds = append(ds, p.found...)
	ds = append(ds, p.s.Diagnostics()...)
	ds = append(ds, p.s.Eval.Diagnostics()...)
	return p.prior.Editor().State(), ds.Unreported()
}

// checkInstance reports an instance that the configuration does not expand to.
func (b *block) checkInstance(addr addrs.AbsResourceInstance) diags.Diagnostics {
	if !b.p.moduleExists(addr.Module) {
		return diags.Errorf(nil, "Configuration for import target does not exist", "The module instance %s does not exist in the configuration.", addr.Module)
	}
	ins, ds := b.p.s.Eval.ResourceInstances(addr.Module, b.r)
	if ds.HasErrors() {
		return ds
	}
	for i := range ins {
		if ins[i].Key == addr.Resource.Key {
			return ds
		}
	}
	return append(ds, diags.Errorf(&b.r.Range, "Configuration for import target does not exist",
		"The configuration for %s does not produce the instance %s: check its count or for_each.", addr.AbsResource(), addr)...)
}

// importer returns the block with the provider configuration that an instance has.
func (b *block) importer(ctx context.Context, addr addrs.AbsResourceInstance) (*block, diags.Diagnostics) {
	scope := eval.Scope{Module: addr.Module}
	ins, _ := b.p.s.Eval.ResourceInstances(addr.Module, b.r)
	for i := range ins {
		if ins[i].Key == addr.Resource.Key {
			scope.Instance = &ins[i]
		}
	}
	return b.forInstance(ctx, addr, scope)
}

// recordOutputs puts the root module's outputs into the state that an object was imported into, so
// that the next plan has no changes of them. An unknown value is recorded as null. Values without
// a reference to them are evaluated as well, and their errors are errors of the import.
// Source: Terraform 1.11.4.
func (p *planner) recordOutputs() diags.Diagnostics {
	ds := p.s.Eval.Force(p.unselected)
	for name, o := range p.in.Config.Root.Outputs {
		v, more := p.s.Eval.Output(addrs.RootModuleInstance, name)
		if ds = append(ds, more...); more.HasErrors() {
			continue
		}
		if plain := marks.Plain(v); plain.IsKnown() && plain.IsNull() {
			p.prior.Editor().RemoveOutput(name)
		} else {
			p.prior.Editor().SetOutput(name, states.Output{Value: schema.UnknownAsNull(plain), Sensitive: o.Sensitive})
		}
	}
	return ds
}
