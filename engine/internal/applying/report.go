package applying

import (
	"sync"

	"github.com/lockstep-iac/lockstep/engine/diags"
)

// A report collects the diagnostics of an apply, in the order in which they come. The zero value
// is empty. Safe for concurrent use.
type report struct {
	mu    sync.Mutex
	found diags.Diagnostics
}

// add keeps diagnostics, but for those that stand for others.
func (r *report) add(ds diags.Diagnostics) {
	if ds = ds.Unreported(); len(ds) > 0 {
		r.mu.Lock()
		r.found = append(r.found, ds...)
		r.mu.Unlock()
	}
}

// all returns the diagnostics so far. Duplicates are among them: the end of the apply, where named values and
// provider configurations add theirs, leaves each out but once.
func (r *report) all() diags.Diagnostics {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append(diags.Diagnostics(nil), r.found...)
}
