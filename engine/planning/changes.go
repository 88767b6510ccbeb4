package planning

import (
	"cmp"
	"slices"
	"sync"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// changeSet collects the changes of a plan while it is made, and answers what is planned so far:
// the visit of a resource asks about its dependencies, whose visits are over. Safe for concurrent
// use.
//
// A plan that destroys is made in two parts (see destroy.go). In the first one nothing
// is kept of the changes, except that dependents learn of them; the deletions of the second part
// are kept, and nobody learns of them.
type changeSet struct {
	destroy bool
	origins map[addrs.AbsResourceInstance]addrs.AbsResourceInstance // of instances that moved
	events  events.Listener

	mu   sync.Mutex
	list []*plans.ResourceChange
	of   map[addrs.AbsResourceInstance]*plans.ResourceChange // current objects
	// ofResource holds the changes of the resources that were asked for.
	ofResource map[addrs.AbsResource][]*plans.ResourceChange
	// pending are the resources with changes other than no-ops, by block and by module instance.
	pendingBlocks map[addrs.ConfigResource]bool
	pending       map[addrs.AbsResource]bool
	drift         []*plans.ResourceChange
}

func newChangeSet(in Input) *changeSet {
	return &changeSet{
		destroy: in.Mode == plans.DestroyMode, events: in.Events,
		of:            map[addrs.AbsResourceInstance]*plans.ResourceChange{},
		ofResource:    map[addrs.AbsResource][]*plans.ResourceChange{},
		pendingBlocks: map[addrs.ConfigResource]bool{},
		pending:       map[addrs.AbsResource]bool{},
	}
}

// record adds a change that is planned as usual.
func (s *changeSet) record(c *plans.ResourceChange) {
	s.mu.Lock()
	if c.Action != plans.NoOp {
		s.pendingBlocks[c.Addr.Instance.Config()] = true
		s.pending[c.Addr.Instance.AbsResource()] = true
	}
	s.mu.Unlock()
	if !s.destroy {
		s.keep(c)
	}
}

// keep makes a change part of the plan.
func (s *changeSet) keep(c *plans.ResourceChange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.PrevAddr == (addrs.AbsResourceInstance{}) {
		c.PrevAddr = c.Addr.Instance
		if from, ok := s.origins[c.Addr.Instance]; ok && !s.destroy {
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

// drifted records that an object is not what the state said. Deposed objects, and objects that are
// going to be destroyed, are left out.
func (s *changeSet) drifted(c *plans.ResourceChange) {
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

// isPending reports whether any instance of a resource has a change.
func (s *changeSet) isPending(abs addrs.AbsResource) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pending[abs]
}

// isPendingAnywhere is [changeSet.isPending] for all instances of the resource's module.
func (s *changeSet) isPendingAnywhere(cr addrs.ConfigResource) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pendingBlocks[cr]
}

// leaves reports whether the state is going to lose an instance.
func (s *changeSet) leaves(a addrs.AbsResourceInstance) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.of[a]
	return c != nil && (c.Action == plans.Delete || c.Action == plans.Forget)
}

// at returns the change of an instance, if there is one.
func (s *changeSet) at(a addrs.AbsResourceInstance) []*plans.ResourceChange {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.of[a]; c != nil {
		return []*plans.ResourceChange{c}
	}
	return nil
}

// atAll returns the changes of all instances of a resource, whose visit is over.
func (s *changeSet) atAll(abs addrs.AbsResource) []*plans.ResourceChange {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.ofResource[abs]; len(found) > 0 {
		return found
	}
	for _, c := range s.list {
		if c.Addr.Deposed == addrs.NotDeposed && c.Addr.Instance.AbsResource() == abs {
			s.ofResource[abs] = append(s.ofResource[abs], c)
		}
	}
	return s.ofResource[abs]
}

// sort puts changes and drift in order of their addresses.
func (s *changeSet) sort() {
	for _, list := range [][]*plans.ResourceChange{s.list, s.drift} {
		slices.SortFunc(list, func(a, b *plans.ResourceChange) int {
			return cmp.Or(a.Addr.Instance.Compare(b.Addr.Instance), cmp.Compare(a.Addr.Deposed, b.Addr.Deposed))
		})
	}
}
