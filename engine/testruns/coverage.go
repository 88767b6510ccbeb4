package testruns

import (
	"maps"
	"slices"
	"sync"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// A coverage records which objects of the configuration under test the runs have reached: resources, outputs
// and checks. Safe for concurrent use.
type coverage struct {
	mu                         sync.Mutex
	resources, outputs, checks map[string]bool
}

func newCoverage() *coverage {
	return &coverage{resources: map[string]bool{}, outputs: map[string]bool{}, checks: map[string]bool{}}
}

// note records what the plan and the assertions of a run reach. A nil plan, and a run of another module,
// reach nothing.
func (c *coverage) note(r *run, plan *plans.Plan) {
	if r.Module != nil || plan == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for abs, keys := range plan.Instances.Resources {
		if len(keys) > 0 {
			c.resources[addrs.ConfigResource{Module: abs.Module.Module(), Resource: abs.Resource}.String()] = true
		}
	}
	for _, x := range plan.Checks {
		if len(x.Objects) > 0 && (x.Status == string(eval.Pass) || x.Status == string(eval.Fail)) {
			c.checks[x.ConfigAddr] = true
		}
	}
	for _, a := range r.Asserts {
		for _, t := range a.Condition.Variables() {
			if t.RootName() == "output" {
				c.outputs["output."+second(t)] = true
			}
		}
	}
}

// result returns how many objects the configuration has, and which of them no run has reached.
func (c *coverage) result(cfg *config.Config) events.TestCoverage {
	resources, outputs, checks := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, m := range cfg.Order {
		for r := range m.Resources {
			resources[addrs.ConfigResource{Module: m.Addr, Resource: r}.String()] = true
		}
	}
	for name := range cfg.Root.Outputs {
		outputs["output."+name] = true
	}
	for _, x := range session.CheckResults(cfg, nil, nil) {
		checks[x.ConfigAddr] = true
	}
	return events.TestCoverage{Resources: covered(resources, c.resources), Outputs: covered(outputs, c.outputs), Checks: covered(checks, c.checks)}
}

// covered returns the number of all objects of one kind, and the sorted names of those that are not reached.
func covered(all, reached map[string]bool) events.TestCovered {
	out := events.TestCovered{All: len(all), Missing: []string{}}
	for _, x := range slices.Sorted(maps.Keys(all)) {
		if !reached[x] {
			out.Missing = append(out.Missing, x)
		}
	}
	return out
}
