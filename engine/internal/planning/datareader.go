package planning

import (
	"context"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

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

// value returns the value of a resource: that of the state, or of a data source as it is now. Of a data source
// that cannot be read, the errors are reported once, by the visit.
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
