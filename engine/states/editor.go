package states

import (
	"maps"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// An Editor makes the next snapshot from one. It shares everything with the
// snapshots it came from and gave, copying a resource at its first change only.
// Not safe for concurrent use.
type Editor struct {
	s     *State
	owned map[addrs.AbsResource]bool // resources that no snapshot shares
	fresh bool                       // s's maps are not shared
}

// Edit returns an editor that starts from s. s stays as it is.
func (s *State) Edit() *Editor {
	e := &Editor{s: s}
	e.own()
	return e
}

// own makes the top-level maps the editor's own.
func (e *Editor) own() {
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

// State returns the snapshot as edited so far. The editor may go on.
func (e *Editor) State() *State {
	e.fresh = false
	return e.s
}

// Current returns the state being edited, to read: the next edit may change it.
func (e *Editor) Current() *State { return e.s }

// SetOutput records a root output.
func (e *Editor) SetOutput(name string, o Output) { e.own(); e.s.outputs[name] = o }

// RemoveOutput forgets a root output.
func (e *Editor) RemoveOutput(name string) { e.own(); delete(e.s.outputs, name) }

// SetChecks records the results of conditions and checks.
func (e *Editor) SetChecks(c []CheckResult) { e.own(); e.s.Checks = c }

// resource returns the resource to be changed, made if need be.
func (e *Editor) resource(a addrs.AbsResource) *Resource {
	e.own()
	r := e.s.resources[a]
	if r == nil {
		r = &Resource{Instances: map[addrs.InstanceKey]*Instance{}}
	} else if !e.owned[a] {
		r = &Resource{r.Provider, maps.Clone(r.Instances), r.Extra}
	}
	e.s.resources[a], e.owned[a] = r, true
	return r
}

// SetProvider records who looks after a resource, without a key; a resource that is not there is made.
func (e *Editor) SetProvider(a addrs.AbsResource, p addrs.AbsProviderConfig) {
	p = p.Config()
	if r := e.s.resources[a]; r != nil && r.Provider == p {
		return
	}
	e.resource(a).Provider = p
}

// SetObject records an object; nil removes it. An instance without objects and a
// resource without instances disappear.
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

// RemoveInstance forgets an instance with all its objects.
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

// RemoveResource forgets a resource with all its instances.
func (e *Editor) RemoveResource(a addrs.AbsResource) {
	if e.s.Resource(a) != nil {
		e.own()
		delete(e.s.resources, a)
	}
}

// RemoveEmpty forgets the resources without instances.
func (e *Editor) RemoveEmpty() {
	for a, r := range e.s.resources {
		if len(r.Instances) == 0 {
			e.own()
			delete(e.s.resources, a)
		}
	}
}

// MoveInstance gives an instance another address, keeping its objects.
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
