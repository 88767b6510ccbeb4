package drafts

import (
	"cmp"
	"slices"
	"sync"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// Changes collects the changes of a plan while it is made, and answers questions about those planned so far.
// For example, the visit of a block asks about its dependencies, which were visited before. Safe for
// concurrent use.
//
// A plan that destroys has two parts. Dependents see the changes of the first part, which are not part of the
// plan. The deletions of the second part are part of the plan, but dependents do not see them.
type Changes struct {
	destroy bool
	origins map[addrs.AbsResourceInstance]addrs.AbsResourceInstance
	events  events.Listener

	mu    sync.Mutex
	list  []*plans.ResourceChange
	drift []*plans.ResourceChange
	of    map[addrs.AbsResourceInstance]*plans.ResourceChange // current objects
	// usual and usualOf are the changes of the first part of a plan that destroys: what would be planned
	// without the destruction.
	usual   []*plans.ResourceChange
	usualOf map[addrs.AbsResourceInstance]*plans.ResourceChange
	// ofResource caches the changes of resources that [Changes.OfAll] was called for.
	ofResource map[addrs.AbsResource][]*plans.ResourceChange
	// pending and pendingBlocks have the resources with changes other than no-ops: pending by address in a
	// module instance, pendingBlocks by block.
	pending       map[addrs.AbsResource]bool
	pendingBlocks map[addrs.ConfigResource]bool
}

// NewChanges returns an empty list for a plan in this mode. origins are the old addresses of moved instances.
// l receives an event for each change that becomes part of the plan.
func NewChanges(mode plans.Mode, origins map[addrs.AbsResourceInstance]addrs.AbsResourceInstance, l events.Listener) *Changes {
	return &Changes{
		destroy: mode == plans.DestroyMode, origins: origins, events: l,
		of:            map[addrs.AbsResourceInstance]*plans.ResourceChange{},
		usualOf:       map[addrs.AbsResourceInstance]*plans.ResourceChange{},
		ofResource:    map[addrs.AbsResource][]*plans.ResourceChange{},
		pending:       map[addrs.AbsResource]bool{},
		pendingBlocks: map[addrs.ConfigResource]bool{},
	}
}

// Withhold removes from the plan the deletions that refusals forbid; see Refusals.withhold.
func (s *Changes) Withhold(r *Refusals, dependencies func(addrs.ResourceInstanceObject) *states.Dependencies) (ds diags.Diagnostics) {
	s.list, ds = r.withhold(s.list, dependencies)
	return ds
}

// Record adds a change. In a plan that destroys, it is a change of the first part, and not part of the plan:
// see [Changes.Keep].
func (s *Changes) Record(c *plans.ResourceChange) {
	s.mu.Lock()
	if c.Action != plans.NoOp {
		s.pendingBlocks[c.Addr.Instance.Config()] = true
		s.pending[c.Addr.Instance.AbsResource()] = true
	}
	if s.destroy && c.Addr.Deposed == addrs.NotDeposed {
		if c.Action == plans.NoOp {
			c = &plans.ResourceChange{Addr: c.Addr, Change: plans.Change{Action: plans.NoOp}} // nothing needs its values
		}
		s.usual, s.usualOf[c.Addr.Instance] = append(s.usual, c), c
	}
	s.mu.Unlock()
	if !s.destroy {
		s.Keep(c)
	}
}

// Keep makes a change part of the plan.
func (s *Changes) Keep(c *plans.ResourceChange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.PrevAddr == (addrs.AbsResourceInstance{}) {
		c.PrevAddr = c.Addr.Instance
		if from, ok := s.origins[c.Addr.Instance]; ok {
			c.PrevAddr = from
		}
	}
	s.list = append(s.list, c)
	if c.Addr.Deposed == addrs.NotDeposed {
		s.of[c.Addr.Instance] = c
	}
	if c.Action != plans.Forget && !(c.Action == plans.NoOp && c.Addr.Deposed != addrs.NotDeposed) {
		s.events.Send(events.Event{Kind: events.Planned, Addr: c.Addr, Action: c.Action})
	}
}

// Drifted records that an object differs from the stored one. It leaves out deposed objects and objects that
// will be destroyed.
func (s *Changes) Drifted(c *plans.ResourceChange) {
	if c.Addr.Deposed != addrs.NotDeposed || s.destroy {
		return
	}
	c.PrevAddr = c.Addr.Instance
	if from, ok := s.origins[c.Addr.Instance]; ok {
		c.PrevAddr = from
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drift = append(s.drift, c)
}

// Pending reports whether any instance of a resource has a change.
func (s *Changes) Pending(abs addrs.AbsResource) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pending[abs]
}

// PendingAnywhere reports whether [Changes.Pending] is true for the resource in any instance of its module.
func (s *Changes) PendingAnywhere(cr addrs.ConfigResource) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pendingBlocks[cr]
}

// Leaves reports whether the plan removes an instance from the state.
func (s *Changes) Leaves(a addrs.AbsResourceInstance) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.of[a]
	return c != nil && (c.Action == plans.Delete || c.Action == plans.Forget)
}

// Of returns the change of an instance; empty if there is none. In a plan that destroys, it is the change of
// the first part.
func (s *Changes) Of(a addrs.AbsResourceInstance) []*plans.ResourceChange {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.of
	if s.destroy {
		of = s.usualOf
	}
	if c := of[a]; c != nil {
		return []*plans.ResourceChange{c}
	}
	return nil
}

// OfAll returns the changes of all instances of a resource. In a plan that destroys, it returns the changes of
// the first part. Call it only after the resource's visit.
func (s *Changes) OfAll(abs addrs.AbsResource) []*plans.ResourceChange {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.ofResource[abs]; len(found) > 0 {
		return found
	}
	list := s.list
	if s.destroy {
		list = s.usual
	}
	for _, c := range list {
		if c.Addr.Deposed == addrs.NotDeposed && c.Addr.Instance.AbsResource() == abs {
			s.ofResource[abs] = append(s.ofResource[abs], c)
		}
	}
	return s.ofResource[abs]
}

// Sorted returns the changes that are part of the plan, and the drift, sorted by address. Call it after the
// walk.
func (s *Changes) Sorted() (changes, drift []*plans.ResourceChange) {
	for _, list := range [][]*plans.ResourceChange{s.list, s.drift} {
		slices.SortFunc(list, func(a, b *plans.ResourceChange) int {
			return cmp.Or(a.Addr.Instance.Compare(b.Addr.Instance), cmp.Compare(a.Addr.Deposed, b.Addr.Deposed))
		})
	}
	return s.list, s.drift
}
