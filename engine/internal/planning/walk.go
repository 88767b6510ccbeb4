package planning

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/walk"
)

// errVisit is the outcome of a visit that reported errors.
var errVisit = errors.New("the visit reported errors")

// walk visits every node, each after the ones that it depends on, and several at a time.
//
// A visit reports its own errors, and only whether there were any decides about the rest of the walk:
// a node is skipped if one that it depends on has failed, and everything else is planned all the same.
// So a person sees all independent mistakes at once, and nobody sees an error that is merely the
// consequence of another one. Terraform does the same.
//
// A resource that was not planned has no value, so outputs, checks and other values that refer to it
// are left out afterwards (unplanned), rather than reported a second time.
func (p *planner) walk(ctx context.Context) {
	nodes := p.nodes()
	results := walk.Run(ctx, p.in.Calls(), p.in.LimitProviders(nodes.graph(), nodes.provider), func(ctx context.Context, i int) error {
		for _, visit := range nodes.list[i].visits {
			ds := visit(ctx)
			p.report(ds)
			if ds.HasErrors() {
				return errVisit
			}
		}
		return nil
	})
	p.values.End()
	for _, err := range results {
		if err != nil && !errors.Is(err, errVisit) && !errors.Is(err, walk.ErrSkipped) {
			p.report(diags.Errorf(nil, "Planning was interrupted", "Nothing has been changed: %s.", err))
			break
		}
	}
	for cr, i := range nodes.of {
		if results[i] != nil {
			p.unplanned[cr.Object()] = true
		}
	}
}
