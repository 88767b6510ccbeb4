package drafts

import (
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// Values are the values that resources will have, for expressions that refer to them. Each value is set once,
// at the end of the resource's visit. Safe for concurrent use.
type Values struct {
	mu    sync.Mutex
	of    map[addrs.AbsResource]func() cty.Value
	ended bool
}

// Set sets the function that returns the value of a resource. It is called at most once, at the first Get.
func (v *Values) Set(a addrs.AbsResource, val func() cty.Value) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.of == nil {
		v.of = map[addrs.AbsResource]func() cty.Value{}
	}
	v.of[a] = sync.OnceValue(val)
}

// Get returns the value of a resource; ok is false if it has none yet. ended reports that the walk is over,
// so that the resource will never have a value.
func (v *Values) Get(a addrs.AbsResource) (val cty.Value, ok, ended bool) {
	v.mu.Lock()
	f, ok := v.of[a]
	ended = v.ended
	v.mu.Unlock()
	if ok {
		val = f()
	}
	return val, ok, ended
}

// End records that the walk is over.
func (v *Values) End() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ended = true
}
