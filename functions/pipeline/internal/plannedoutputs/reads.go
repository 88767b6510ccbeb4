package plannedoutputs

import (
	"context"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// maxReads is the maximum number of states for which a plan is listed as one that depends on them. In a pull
// request, everything can depend on everything.
const maxReads = 100

// Reads returns how often the states of the projects on which a run depends directly have been applied until
// now, by target; nil if there are none. Call it before the plan is made. If another apply follows, Lockstep
// then knows that the plan is out of date.
func (f Foreseer) Reads(ctx context.Context, r runs.Run) (map[string]int, error) {
	o, err := f.Facts.Ordered(ctx, r)
	if err != nil || o == nil || r.Spec.Removed || r.Spec.Options.Destroy {
		return nil, err
	}
	on := o.Edges()[r.Project]
	all, err := gatefacts.RunsNamed(ctx, f.Facts, r.Spec.Base, on)
	if err != nil {
		return nil, err
	}
	own, err := f.runs(ctx)
	if err != nil {
		return nil, err
	}
	r.Plan.Reads = readable(slices.Concat(o.Base[r.Project], on), append(all, own...))
	return f.Ledger.Applies(ctx, r)
}

// readable returns the targets of the runs of the named projects, as the keys of a map. If there are more than
// maxReads, it returns the first ones, by name.
func readable(names []string, all []runs.Run) map[string]int {
	targets := map[string]int{}
	for _, name := range names {
		for _, s := range all {
			if s.Project == name && len(targets) < maxReads {
				targets[s.Target()] = 0
			}
		}
	}
	return targets
}
