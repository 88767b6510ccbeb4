package planning

import (
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// resourceValues are the values that resources will have, for the expressions that refer to
// them: each is set once, at the end of the resource's visit. Safe for concurrent use.
type resourceValues struct {
	mu    sync.Mutex
	of    map[addrs.AbsResource]cty.Value
	ended bool
}

func (v *resourceValues) set(a addrs.AbsResource, val cty.Value) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.of == nil {
		v.of = map[addrs.AbsResource]cty.Value{}
	}
	v.of[a] = val
}

// get returns the value of a resource, ok if it has one; ended reports whether it will have
// none any more, as the walk is over.
func (v *resourceValues) get(a addrs.AbsResource) (val cty.Value, ok, ended bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	val, ok = v.of[a]
	return val, ok, v.ended
}

// end notes that the walk is over.
func (v *resourceValues) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ended = true
}
