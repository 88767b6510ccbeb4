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

// plannedInstances are the instances with changes in a plan, computed when first needed.
type plannedInstances struct {
	// deleted returns the instances that the plan deletes without creating a new object for them.
	deleted func() map[addrs.AbsResourceInstance]bool
	// made returns the instances whose objects the plan creates, updates or reads.
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

// remaining returns a function that reports whether an instance of a block exists after an apply of the plan,
// in any module instance. It counts only instances that the plan lists and neither deletes nor forgets.
// [dependencies.Graph.ForcedInstances] needs this: a reference a[0] means only this instance if it exists
// after the apply.
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

// destroyers returns the provider configurations of the objects to destroy that were created with
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

// referenced returns, for the content of each module, the resources that its expressions refer to. Modules that
// are called from the same directory share one content.
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
