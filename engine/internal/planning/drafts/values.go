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
	of    map[addrs.AbsResource]future
	ended bool
}

// A future is the value of a resource, which is made when first needed.
type future struct {
	keys []addrs.InstanceKey
	val  func() cty.Value
}

// Set sets the function that returns the value of a resource, and the keys of the instances in the value. The
// function is called at most once, at the first Get.
func (v *Values) Set(a addrs.AbsResource, keys []addrs.InstanceKey, val func() cty.Value) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.of == nil {
		v.of = map[addrs.AbsResource]future{}
	}
	v.of[a] = future{keys, sync.OnceValue(val)}
}

// Keys returns the keys of the instances in the value of a resource; ok is false if it has none yet.
func (v *Values) Keys(a addrs.AbsResource) (keys []addrs.InstanceKey, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f, ok := v.of[a]
	return f.keys, ok
}

// Get returns the value of a resource; ok is false if it has none yet. ended reports that the walk is over,
// so that the resource will never have a value.
func (v *Values) Get(a addrs.AbsResource) (val cty.Value, ok, ended bool) {
	v.mu.Lock()
	f, ok := v.of[a]
	ended = v.ended
	v.mu.Unlock()
	if ok {
		val = f.val()
	}
	return val, ok, ended
}

// End records that the walk is over.
func (v *Values) End() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ended = true
}
