package applying

import (
	"maps"
	"slices"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/refs"
)

// PlannedInstances are the instances of a plan's changes, found at first need.
type plannedInstances struct {
	// deleted are those that the plan deletes, and for which it creates no successor.
	deleted func() map[addrs.AbsResourceInstance]bool
	// made are those of which the plan creates, updates or reads an object.
	made func() map[addrs.AbsResource][]addrs.InstanceKey
}

func newPlannedInstances(plan *plans.Plan) plannedInstances {
	return plannedInstances{
		deleted: sync.OnceValue(func() map[addrs.AbsResourceInstance]bool {
			deleted := map[addrs.AbsResourceInstance]bool{}
			for _, c := range plan.Changes {
				if c.Action == plans.Delete && c.Addr.Deposed == addrs.NotDeposed {
					deleted[c.Addr.Instance] = true
				}
			}
			return deleted
		}),
		made: sync.OnceValue(func() map[addrs.AbsResource][]addrs.InstanceKey {
			made := map[addrs.AbsResource][]addrs.InstanceKey{}
			for _, c := range plan.Changes {
				if c.Action != plans.NoOp && c.After != cty.NilVal && !marks.Plain(c.After).IsNull() {
					abs := c.Addr.Instance.AbsResource()
					made[abs] = append(made[abs], c.Addr.Instance.Resource.Key)
				}
			}
			return made
		}),
	}
}

// remaining is for [dependencies.Graph.ForcedInstances], where a reference a[0] means that instance
// alone only if it is there after the apply. It returns a function that reports whether a plan does more than delete an instance of a
// block, in any module instance.
func remaining(plan *plans.Plan) func(addrs.ConfigResource, addrs.InstanceKey) bool {
	type instance struct {
		addrs.ConfigResource
		key addrs.InstanceKey
	}
	all := sync.OnceValue(func() map[instance]bool {
		all := map[instance]bool{}
		for _, c := range plan.Changes {
			if c.Addr.Deposed == addrs.NotDeposed && c.Action != plans.Delete && c.Action != plans.Forget {
				all[instance{c.Addr.Instance.Config(), c.Addr.Instance.Resource.Key}] = true
			}
		}
		return all
	})
	return func(cr addrs.ConfigResource, key addrs.InstanceKey) bool { return all()[instance{cr, key}] }
}

// destroyers returns the provider configurations of those objects to destroy that were created with
// create-before-destroy.
func destroyers(plan *plans.Plan) []addrs.AbsProviderConfig {
	seen := map[addrs.AbsProviderConfig]bool{}
	for _, c := range plan.Changes {
		if c.Addr.Deposed != addrs.NotDeposed || c.Action != plans.Delete && !c.Action.IsReplace() {
			continue
		}
		if o := plan.PriorState.Object(c.Addr); o != nil && o.CreateBeforeDestroy {
			seen[c.Provider] = true
		}
	}
	return slices.Collect(maps.Keys(seen))
}

// referenced returns the resources that expressions refer to, by content: calls of the same module share
// one, and so this is done once for all of them.
func referenced(cfg *config.Config, rs *refs.Refs) map[*config.Content]map[addrs.Resource]bool {
	out := map[*config.Content]map[addrs.Resource]bool{}
	for _, m := range cfg.Order {
		if out[m.Content] != nil {
			continue
		}
		found := map[addrs.Resource]bool{}
		for _, ref := range rs.OfContent(m.Content) {
			if ref.Object.Kind == addrs.KindResource {
				found[ref.Object.Res] = true
			}
		}
		out[m.Content] = found
	}
	return out
}
