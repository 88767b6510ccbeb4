package planning

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/walk"
)

// errVisit is the result of a visit that reported errors.
var errVisit = errors.New("the visit reported errors")

// walk visits every node after the nodes that it depends on, several at a time.
//
// A visit reports its own errors. If it has any, the nodes that depend on it are skipped, and all other nodes
// are still planned. So a person sees all independent mistakes at once, and no error that is only a
// consequence of another. Terraform does the same.
//
// A resource that was not planned has no value. So outputs, checks and other values that refer to it are left
// out afterwards (unplanned), and not reported again.
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
