package planning

import (
	"context"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// storedValue returns a resource's value from the state, for expressions that are evaluated without
// a plan, as by console. It is unknown without any instance in the state, since nothing tells how many
// there will be; so is each instance of the configuration that the state does not have.
func (p *planner) storedValue(ctx context.Context, a addrs.AbsResource) (cty.Value, diags.Diagnostics) {
	m := p.in.Config.Modules[a.Module.Module()]
	r := m.Resources[a.Resource]
	if !p.prior.Has(a) {
		return cty.DynamicVal, nil
	}
	rs, _, ds := p.s.Schema(ctx, m.ResourceProvider(r).Provider, r.Addr, r.TypeRange.Ptr())
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	ins, ds := p.s.Eval.ResourceInstances(a.Module, r)
	if ds.HasErrors() {
		return cty.DynamicVal, nil // count or for_each may depend on values that only a plan has
	}
	vals := make([]cty.Value, len(ins))
	for i := range ins {
		addr := a.Instance(ins[i].Key)
		vals[i] = cty.UnknownVal(rs.Block.ImpliedType())
		if o := p.prior.Object(addrs.ResourceInstanceObject{Instance: addr}); o != nil && o.AttrsJSON != nil {
			if x, more := p.s.Stored(addr, rs, o); !more.HasErrors() {
				vals[i] = x
			}
		}
	}
	return p.s.Eval.CollectResource(r, ins, vals), nil
}

// A dataReader gives managed resources their stored values, and reads a data source when it is
// first referred to: for an import, whose provider configuration may depend on data.
//
// There is no walk then, and no order in which data were read before they are needed. A visit of
// the data block takes its place, once for all references; it may start others in turn, for data that
// depend on data. A configuration has no cycles of references, and so no visit waits for itself.
type dataReader struct {
	p *planner

	mu   sync.Mutex
	read map[*config.Resource]func() diags.Diagnostics // once each
}

// value returns the value of a resource.
func (v *dataReader) value(ctx context.Context, a addrs.AbsResource) (cty.Value, diags.Diagnostics) {
	if a.Resource.Mode != addrs.Data {
		return v.p.storedValue(ctx, a)
	}
	m := v.p.in.Config.Modules[a.Module.Module()]
	r := m.Resources[a.Resource]
	v.mu.Lock()
	if v.read == nil {
		v.read = map[*config.Resource]func() diags.Diagnostics{}
	}
	read, ok := v.read[r]
	if !ok {
		read = sync.OnceValue(func() diags.Diagnostics {
			ds := v.p.visitBlock(ctx, m, r)
			v.p.report(ds)
			return ds
		})
		v.read[r] = read
	}
	v.mu.Unlock()
	if read().HasErrors() {
		return cty.DynamicVal, diags.Reported()
	}
	if val, ok, _ := v.p.values.Get(a); ok {
		return val, nil
	}
	return cty.DynamicVal, nil
}
