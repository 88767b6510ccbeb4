package planning

import (
	"context"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// A dataReader returns the stored values of managed resources. It reads a data source when something first
// refers to it. It serves imports, whose provider configuration may depend on data sources.
//
// An import has no walk, so data sources are not read in order. Instead, the first reference to a data block
// plans the block, once for all references. This may start other blocks, if data sources depend on each
// other. References in a configuration have no cycles, so no block waits for itself.
type dataReader struct {
	p *planner

	mu   sync.Mutex
	read map[*config.Resource]func() diags.Diagnostics // plans the block, at most once
}

// value returns the value of a resource: the stored one for a managed resource, the current one for a data
// source. If a data source cannot be read, the errors are reported once, when its block is planned.
func (v *dataReader) value(ctx context.Context, a addrs.AbsResource) (cty.Value, diags.Diagnostics) {
	if a.Resource.Mode != addrs.Data {
		return v.p.stored().Of(ctx, a)
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
