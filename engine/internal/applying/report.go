package applying

import (
	"sync"

	"github.com/lockstep-iac/lockstep/engine/diags"
)

// A report collects the diagnostics of an apply in order. The zero value is empty. Safe for concurrent use.
type report struct {
	mu    sync.Mutex
	found diags.Diagnostics
}

// add adds diagnostics, except those that only stand for others: see [diags.Reported].
func (r *report) add(ds diags.Diagnostics) {
	if ds = ds.Unreported(); len(ds) > 0 {
		r.mu.Lock()
		r.found = append(r.found, ds...)
		r.mu.Unlock()
	}
}

// all returns the diagnostics so far. They may contain duplicates, which the caller removes.
func (r *report) all() diags.Diagnostics {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append(diags.Diagnostics(nil), r.found...)
}
