package planning

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// A movePattern is the set of objects that an endpoint names, in all instances of the statement's module. It
// is an address in which some instance keys are open.
type movePattern struct {
	steps    []movePatternStep // steps of the module path
	resource addrs.Resource
	key      addrs.InstanceKey
	any      bool // the pattern matches any key
}

type movePatternStep struct {
	name string
	key  addrs.InstanceKey
	any  bool
}

// pattern returns the pattern of an endpoint.
func (st *moveStatement) pattern(t addrs.Target) movePattern {
	p := movePattern{resource: t.Resource, key: t.Key, any: st.whole}
	for _, name := range st.module.Steps() {
		p.steps = append(p.steps, movePatternStep{name: name, any: true})
	}
	steps := t.Module.Steps()
	for i, s := range steps {
		p.steps = append(p.steps, movePatternStep{s.Name, s.Key, t.IsModule() && i == len(steps)-1 && st.whole})
	}
	return p
}

func (p movePattern) isModule() bool { return p.resource == (addrs.Resource{}) }

// overlaps reports whether any object is in both sets.
func (p movePattern) overlaps(q movePattern) bool {
	return p.resource == q.resource && len(p.steps) == len(q.steps) && q.leads(p) &&
		(p.isModule() || p.key == q.key || p.any || q.any)
}

// within reports whether p may be inside q: in the module that q names, or as one instance of the resource
// that q names as a whole.
func (p movePattern) within(q movePattern) bool {
	if !q.isModule() {
		return q.any && !p.any && p.resource == q.resource && len(p.steps) == len(q.steps) && q.leads(p)
	}
	deeper := len(p.steps) > len(q.steps) || !p.isModule() && len(p.steps) == len(q.steps)
	return deeper && q.leads(p)
}

// leads reports whether the module path of p may begin with the module path of q. p must have at least as many
// steps as q.
func (q movePattern) leads(p movePattern) bool {
	for i, s := range q.steps {
		if o := p.steps[i]; s.name != o.name || !s.any && !o.any && s.key != o.key {
			return false
		}
	}
	return true
}
