package drafts

import (
	"maps"
	"slices"
	"sync"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// Prior is the prior state while it is made: the state as it was read, with the objects refreshed so far. Its
// methods are safe for concurrent use, except [Prior.Editor], which may be used only before and after the
// walk.
type Prior struct {
	mu     sync.Mutex
	editor *states.Editor
}

// NewPrior returns the prior state at the start of a plan: the state as it was read.
func NewPrior(read *states.State) *Prior { return &Prior{editor: read.Edit()} }

// Editor returns the editor of the state.
func (s *Prior) Editor() *states.Editor { return s.editor }

// State returns the current state, for reading while nothing changes it.
func (s *Prior) State() *states.State { return s.editor.Current() }

// Object returns an object; nil if there is none.
func (s *Prior) Object(a addrs.ResourceInstanceObject) *states.Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.editor.Current().Object(a)
}

// Usual reports whether an instance has nothing to settle but its configuration: a complete current object,
// written with that version of the schema, no deposed object, and no pending action.
func (s *Prior) Usual(a addrs.AbsResourceInstance, version int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.editor.Current().Instance(a)
	if in == nil || in.Current == nil || len(in.Deposed) > 0 {
		return false
	}
	o := in.Current
	return o.Status == states.Ready && o.SchemaVersion == version && o.AttrsJSON != nil && o.PendingText() == nil
}

// Alone reports whether an instance has a current object, no deposed ones, and the provider configuration pc,
// which all instances of its resource share.
func (s *Prior) Alone(a addrs.AbsResourceInstance, pc addrs.AbsProviderConfig) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.editor.Current().Resource(a.AbsResource())
	if r == nil || r.Provider != pc {
		return false
	}
	in := r.Instances[a.Resource.Key]
	return in != nil && in.Current != nil && len(in.Deposed) == 0 && in.Provider == ""
}

// SetObject records an object; nil removes it.
func (s *Prior) SetObject(a addrs.ResourceInstanceObject, pc addrs.AbsProviderConfig, o *states.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.editor.SetObject(a, pc, o)
}

// RemoveInstance removes an instance with all its objects.
func (s *Prior) RemoveInstance(a addrs.AbsResourceInstance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.editor.RemoveInstance(a)
}

// Has reports whether the state has the resource.
func (s *Prior) Has(abs addrs.AbsResource) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.editor.Current().Resource(abs) != nil
}

// Provider returns the provider configuration of a resource. own reports whether its instances have provider
// configurations of their own. ok is false if there is no such resource.
func (s *Prior) Provider(abs addrs.AbsResource) (pc addrs.AbsProviderConfig, own, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.editor.Current().Resource(abs)
	if r == nil {
		return pc, false, false
	}
	for _, in := range r.Instances {
		own = own || in.Provider != ""
	}
	return r.Provider, own, true
}

// InstanceProvider returns the provider configuration of an instance. The state must have the resource.
func (s *Prior) InstanceProvider(a addrs.AbsResourceInstance) addrs.AbsProviderConfig {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.editor.Current().Resource(a.AbsResource()).ProviderOf(a.Resource.Key)
}

// Instances returns the instances of the given resources, sorted.
func (s *Prior) Instances(list ...addrs.AbsResource) []addrs.AbsResourceInstance {
	return s.InstancesBut(nil, list...)
}

// InstancesBut returns the instances of the given resources, sorted, except those in the set except. The set
// may be nil.
func (s *Prior) InstancesBut(except map[addrs.AbsResourceInstance]bool, list ...addrs.AbsResource) []addrs.AbsResourceInstance {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []addrs.AbsResourceInstance
	for _, abs := range list {
		if r := s.editor.Current().Resource(abs); r != nil {
			for k := range r.Instances {
				if a := abs.Instance(k); !except[a] {
					out = append(out, a)
				}
			}
		}
	}
	slices.SortFunc(out, addrs.AbsResourceInstance.Compare)
	return out
}

// Objects returns all objects of an instance: the current one, then the deposed ones.
func (s *Prior) Objects(a addrs.AbsResourceInstance) []addrs.ResourceInstanceObject {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []addrs.ResourceInstanceObject
	in := s.editor.Current().Instance(a)
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
