package executor

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// Recover recovers a state after an interrupted apply; it implements jobs.Engine. It only opens the state with
// a lock, because opening does the recovery.
func (e *Engine) Recover(ctx context.Context, j jobs.Job) (comment.Recovered, error) {
	j.Access = jobs.Writes
	r := comment.Recovered{Project: j.Project}
	o, ds, err := e.open(ctx, j, false)
	//lint:ignore SA5001 after an error, too, there is something to close
	defer o.Close()
	if err != nil {
		return r, fmt.Errorf("open %s: %w", describe(j), err)
	}
	if o.Config.Root.Broken {
		return r, &jobs.StateError{Why: o.reason(ds), Remedy: correct}
	}
	if ds := o.lock(ctx, "OperationTypeRecover"); ds.HasErrors() {
		return r, &jobs.StateError{Why: o.reason(ds)}
	}
	r.Changed = o.Recovery.Folded || len(o.Recovery.Read) > 0
	for _, c := range o.Recovery.Conflicts {
		r.Conflicts = append(r.Conflicts, c.Address)
	}
	for _, u := range o.Recovery.Unresolved {
		d := comment.Doubt{Address: u.Address, Action: u.Action, Begun: u.Started}
		for _, name := range slices.Sorted(maps.Keys(u.Known)) {
			d.Known = append(d.Known, fmt.Sprintf("%s = %q", name, u.Known[name]))
		}
		r.Doubts = append(r.Doubts, d)
	}
	return r, nil
}
