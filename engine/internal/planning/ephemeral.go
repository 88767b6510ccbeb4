package planning

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
)

// openEphemerals opens the instances of an ephemeral block whose configuration is known. Other instances have
// an unknown value in the plan; the apply opens them. Opened instances stay open until the end of the walk,
// since any later block may use them. They are not part of the plan: an apply opens its own.
// Source: https://developer.hashicorp.com/terraform/language/block/ephemeral
func (x *expanded) openEphemerals(ctx context.Context) diags.Diagnostics {
	return x.each(ctx, func(ctx context.Context, b *block, j *job) (cty.Value, diags.Diagnostics) {
		return b.p.s.OpenEphemeral(ctx, session.Ephemeral{
			Addr: j.addr, Provider: b.pc, Client: b.client, Resource: b.r, Schema: b.rs, Scope: j.scope(),
		})
	})
}
