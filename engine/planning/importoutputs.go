package planning

import (
	"context"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// recordOutputs puts the root module's outputs into the state that an object was imported into, so
// that the next plan has nothing to say of them. What is not known yet is null there. Values that
// nobody needs are evaluated too: what is wrong with them is wrong for the import, as for the stock
// tool.
func (p *planner) recordOutputs() diags.Diagnostics {
	ds := p.s.Eval.Force(p.unselected)
	for name, o := range p.in.Config.Root.Outputs {
		if o.Ephemeral {
			continue
		}
		v, more := p.s.Eval.Output(addrs.RootModuleInstance, name)
		if ds = append(ds, more...); more.HasErrors() {
			continue
		}
		if plain := marks.Plain(v); plain.IsKnown() && plain.IsNull() {
			p.prior.RemoveOutput(name)
		} else {
			p.prior.SetOutput(name, states.Output{Value: schema.UnknownAsNull(plain), Sensitive: o.Sensitive})
		}
	}
	return ds
}

// data returns the value of a data source, which is read when it is first asked for.
func (v *storedValues) data(ctx context.Context, m *config.Module, r *config.Resource, a addrs.AbsResource) (cty.Value, diags.Diagnostics) {
	v.mu.Lock()
	if v.read == nil {
		v.read = map[*config.Resource]func() diags.Diagnostics{}
	}
	read, ok := v.read[r]
	if !ok {
		read = sync.OnceValue(func() diags.Diagnostics {
			ds := v.p.visitData(ctx, m, r)
			v.p.report(ds)
			return ds
		})
		v.read[r] = read
	}
	v.mu.Unlock()
	if read().HasErrors() {
		return cty.DynamicVal, diags.Reported()
	}
	v.p.mu.Lock()
	defer v.p.mu.Unlock()
	if val, ok := v.p.values[a]; ok {
		return val, nil
	}
	return cty.DynamicVal, nil
}
