package planning

import (
	"maps"
	"slices"
	"sync"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// priorState is the prior state while it comes about: the state as it was read, with the
// objects as they were found since. Its methods are safe for concurrent use; the editor is for
// before and after the walk.
type priorState struct {
	mu sync.Mutex
	*states.Editor
}

// object returns an object; nil if there is none.
func (s *priorState) object(a addrs.ResourceInstanceObject) *states.Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Current().Object(a)
}

// setObject records an object; nil removes it.
func (s *priorState) setObject(a addrs.ResourceInstanceObject, pc addrs.AbsProviderConfig, o *states.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.SetObject(a, pc, o)
}

// removeInstance forgets an instance with all its objects.
func (s *priorState) removeInstance(a addrs.AbsResourceInstance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.RemoveInstance(a)
}

// has reports whether there is anything of a resource.
func (s *priorState) has(abs addrs.AbsResource) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Current().Resource(abs) != nil
}

// provider returns the provider configuration of a resource, and whether instances have ones
// of their own beside it; false if there is no such resource.
func (s *priorState) provider(abs addrs.AbsResource) (pc addrs.AbsProviderConfig, own, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.Current().Resource(abs)
	if r == nil {
		return pc, false, false
	}
	for _, in := range r.Instances {
		own = own || in.Provider != ""
	}
	return r.Provider, own, true
}

// instanceProvider returns the provider configuration of an instance, whose resource there is.
func (s *priorState) instanceProvider(a addrs.AbsResourceInstance) addrs.AbsProviderConfig {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Current().Resource(a.AbsResource()).ProviderOf(a.Resource.Key)
}

// instances returns the instances of some resources, sorted.
func (s *priorState) instances(list ...addrs.AbsResource) []addrs.AbsResourceInstance {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []addrs.AbsResourceInstance
	for _, abs := range list {
		if r := s.Current().Resource(abs); r != nil {
			for k := range r.Instances {
				out = append(out, abs.Instance(k))
			}
		}
	}
	slices.SortFunc(out, addrs.AbsResourceInstance.Compare)
	return out
}

// objects returns all objects of an instance: the current one, then the deposed ones.
func (s *priorState) objects(a addrs.AbsResourceInstance) []addrs.ResourceInstanceObject {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []addrs.ResourceInstanceObject
	in := s.Current().Instance(a)
	if in == nil {
		return nil
	}
	if in.Current != nil {
		out = append(out, addrs.ResourceInstanceObject{Instance: a})
	}
	for _, k := range slices.Sorted(maps.Keys(in.Deposed)) {
		out = append(out, addrs.ResourceInstanceObject{Instance: a, Deposed: k})
	}
	return out
}
