package executor

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// countsOf returns those facts about a plan that are numbers.
func countsOf(p *plans.Plan) *runs.Content {
	var types []string
	for _, c := range p.Changes {
		r := c.Addr.Instance.Resource.Resource
		if r.Mode == addrs.Managed && c.Destroys() {
			types = append(types, r.Type)
		}
	}
	slices.Sort(types)
	return runs.ContentOf(p.Counts(), slices.Compact(types))
}
