package planning

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/walk"
)

// errVisit is the outcome of a visit that reported errors.
var errVisit = errors.New("the visit reported errors")

// walk visits every node.
func (p *planner) walk(ctx context.Context) {
	nodes := p.nodes()
	results := walk.Run(ctx, p.in.Calls(), nodes.graph(), func(ctx context.Context, i int) error {
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
