package session

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/marks"
)

// Meta returns the value of the provider_meta block for the provider p, which is sent with every call about
// an instance of r. It is cty.NilVal if the module has no such block, or if r is nil because the object has
// no block.
func (s *Session) Meta(ctx context.Context, r *config.Resource, p addrs.Provider, a addrs.AbsResourceInstance) (cty.Value, diags.Diagnostics) {
	m := s.Config.Modules[a.Module.Module()]
	if r == nil || m == nil {
		return cty.NilVal, nil
	}
	block := m.Meta(p)
	if block == nil {
		return cty.NilVal, nil
	}
	if !s.Eval.HasModule(m, a.Module) {
		return cty.NilVal, nil // the module instance no longer exists; only objects are left
	}
	ps, ds := s.Providers.Schema(ctx, p)
	if ds.HasErrors() {
		return cty.NilVal, ds
	}
	if ps.Meta == nil {
		return cty.NilVal, append(ds, diags.Errorf(&block.Range, "Provider "+p.String()+" doesn't support provider_meta",
			"The resource %s belongs to a provider that doesn't support provider_meta blocks. Take this one out.", a.Resource.Resource)...)
	}
	scope, more := s.Eval.BlockContext(block, eval.Scope{Module: a.Module})
	if ds = append(ds, more...); ds.HasErrors() {
		return cty.NilVal, ds
	}
	v, more := ps.Meta.Block.Bind(block.Body).Decode(scope)
	return marks.Plain(v), append(ds, more...)
}
