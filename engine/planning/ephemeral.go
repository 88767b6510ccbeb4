package planning

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/session"
)

// openEphemerals opens the instances of an ephemeral block whose configuration is known.
func (x *expanded) openEphemerals(ctx context.Context) diags.Diagnostics {
	return x.each(ctx, func(ctx context.Context, b *block, j *job) (cty.Value, diags.Diagnostics) {
		return b.p.s.OpenEphemeral(ctx, session.Ephemeral{
			Addr: j.addr, Client: b.client, Resource: b.r, Schema: b.rs, Scope: eval.Scope{Module: j.addr.Module, Instance: j.scope.Instance},
		})
	})
}
