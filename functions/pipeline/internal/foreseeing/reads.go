package foreseeing

import (
	"context"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline/evidence"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Reads returns the number of applies so far to the states of the projects that a run depends on, by target; nil if it depends
// on none. It comes before the plan, which may know of more.
func (f Foreseer) Reads(ctx context.Context, r runs.Run) (map[string]int, error) {
	edges, err := f.edges(ctx, r)
	if err != nil || edges == nil || r.Removed || r.Options.Destroy {
		return nil, err
	}
	on := edges[r.Project]
	all, err := evidence.Named(ctx, f.Evidence, r.Base, on)
	if err != nil {
		return nil, err
	}
	own, err := f.runs(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range own {
		if slices.Contains(on, s.Project) {
			all = append(all, s)
		}
	}
	reads := map[string]int{}
	for _, s := range all {
		reads[s.Target()] = 0
	}
	r.Reads = reads
	return f.Ledger.Applies(ctx, r)
}
