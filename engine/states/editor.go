package states

import (
	"maps"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// An Editor makes a new snapshot from an existing one. It shares all unchanged resources with the snapshots
// that it began with and returned, and copies a resource at its first change. Not safe for concurrent use.
type Editor struct {
	s     *State
	owned map[addrs.AbsResource]bool // resources that the editor has copied already
	fresh bool                       // the editor has copied the maps of s already
}

// Edit returns an editor that starts from s. The editor does not change s.
func (s *State) Edit() *Editor {
	e := &Editor{s: s}
	e.unshare()
	return e
}

// unshare copies the top-level maps, which the state shares with a snapshot. After the first edit it does
// nothing.
func (e *Editor) unshare() {
	if e.fresh {
		return
	}
	c := *e.s
	c.outputs, c.resources = maps.Clone(c.outputs), maps.Clone(c.resources)
	if c.outputs == nil {
		c.outputs = map[string]Output{}
	}
	if c.resources == nil {
		c.resources = map[addrs.AbsResource]*Resource{}
	}
	e.s, e.owned, e.fresh = &c, map[addrs.AbsResource]bool{}, true
}

// State returns a snapshot with the edits so far. Later edits do not change it.
func (e *Editor) State() *State {
	e.fresh = false
	return e.s
}

// Current returns the state being edited, for reading. The next edit may change it.
func (e *Editor) Current() *State { return e.s }

// SetOutput sets a root output.
func (e *Editor) SetOutput(name string, o Output) { e.unshare(); e.s.outputs[name] = o }

// RemoveOutput removes a root output.
func (e *Editor) RemoveOutput(name string) { e.unshare(); delete(e.s.outputs, name) }

// SetChecks sets the results of conditions and checks.
func (e *Editor) SetChecks(c []CheckResult) { e.unshare(); e.s.Checks = c }

// resource returns a resource for changing. It creates a missing resource.
func (e *Editor) resource(a addrs.AbsResource) *Resource {
	e.unshare()
	r := e.s.resources[a]
	if r == nil {
		r = &Resource{Instances: map[addrs.InstanceKey]*Instance{}}
	} else if !e.owned[a] {
		r = &Resource{r.Provider, maps.Clone(r.Instances), r.Extra}
	}
	e.s.resources[a], e.owned[a] = r, true
	return r
}

// SetProvider sets the provider configuration of a resource, without an instance key. It creates a missing
// resource.
func (e *Editor) SetProvider(a addrs.AbsResource, p addrs.AbsProviderConfig) {
	p = p.Config()
	if r := e.s.resources[a]; r != nil && r.Provider == p {
		return
	}
	e.resource(a).Provider = p
}

// SetObject sets an object and its provider configuration; a nil object is removed. SetObject also removes an
// instance without objects, and a resource without instances.
func (e *Editor) SetObject(a addrs.ResourceInstanceObject, p addrs.AbsProviderConfig, o *Object) {
	if o == nil && e.s.Object(a) == nil {
		return
	}
	ra, k := a.Instance.AbsResource(), a.Instance.Resource.Key
	r := e.resource(ra)
	in := &Instance{}
	if old := r.Instances[k]; old != nil {
		*in = *old
		in.Deposed = maps.Clone(old.Deposed)
	}
	if o != nil {
		r.assign(in, p)
	}
	switch {
	case a.Deposed == addrs.NotDeposed:
		in.Current = o
	case o == nil:
		delete(in.Deposed, a.Deposed)
	default:
		if in.Deposed == nil {
			in.Deposed = map[addrs.DeposedKey]*Object{}
		}
		in.Deposed[a.Deposed] = o
	}
	r.Instances[k] = in
	if in.Current == nil && len(in.Deposed) == 0 {
		delete(r.Instances, k)
	}
	if len(r.Instances) == 0 {
		delete(e.s.resources, ra)
	}
}

// RemoveInstance removes an instance with all its objects.
func (e *Editor) RemoveInstance(a addrs.AbsResourceInstance) {
	if e.s.Instance(a) == nil {
		return
	}
	r := e.resource(a.AbsResource())
	delete(r.Instances, a.Resource.Key)
	if len(r.Instances) == 0 {
		delete(e.s.resources, a.AbsResource())
	}
}

// RemoveResource removes a resource with all its instances.
func (e *Editor) RemoveResource(a addrs.AbsResource) {
	if e.s.Resource(a) != nil {
		e.unshare()
		delete(e.s.resources, a)
	}
}

// RemoveEmpty removes all resources without instances.
func (e *Editor) RemoveEmpty() {
	for a, r := range e.s.resources {
		if len(r.Instances) == 0 {
			e.unshare()
			delete(e.s.resources, a)
		}
	}
}

// ReplaceObject replaces an existing object with o. The provider configuration stays the same.
func (e *Editor) ReplaceObject(a addrs.ResourceInstanceObject, o *Object) {
	e.SetObject(a, e.s.Resource(a.Instance.AbsResource()).ProviderOf(a.Instance.Resource.Key), o)
}

// MoveInstance moves an instance with its objects to another address. The objects do not change.
func (e *Editor) MoveInstance(from, to addrs.AbsResourceInstance) {
	in := e.s.Instance(from)
	if in == nil {
		return
	}
	p := e.s.Resource(from.AbsResource()).Provider
	e.RemoveInstance(from)
	r := e.resource(to.AbsResource())
	r.Provider = p
	r.Instances[to.Resource.Key] = in
}
