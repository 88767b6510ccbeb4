package planning

import (
	"context"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// importTargets resolves the import blocks for a resource.
func (p *planner) importTargets(ctx context.Context, b *block, spans map[addrs.AbsResource][2]int) diags.Diagnostics {
	return nil
}

// importObject brings an object into the prior state by its ID, if an import
// block asks for it and the state has none.
func (x *instance) importObject(ctx context.Context) (*plans.Importing, diags.Diagnostics) {
	return nil, nil
}

// removed handles removed blocks: it reports whether one applies to a resource
// without block, and then plans what it says.
func (p *planner) removed(ctx context.Context, abs addrs.AbsResource, pc addrs.AbsProviderConfig, list []addrs.AbsResourceInstance) (bool, diags.Diagnostics) {
	return false, nil
}
