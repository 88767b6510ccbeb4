package session

import (
	"sync"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// Bodies are the bodies of resources, matched with their schemas. All phases of a run share them, so each
// body is matched only once. The zero value is empty. Safe for concurrent use.
type Bodies struct {
	mu    sync.Mutex
	bound map[*config.Resource]*schema.Bound
}

// of returns the matched body of a resource. rs must always be the same for a resource.
func (x *Bodies) of(r *config.Resource, rs *schema.Schema) *schema.Bound {
	x.mu.Lock()
	defer x.mu.Unlock()
	b := x.bound[r]
	if b == nil {
		if x.bound == nil {
			x.bound = map[*config.Resource]*schema.Bound{}
		}
		b = rs.Block.Bind(r.Body)
		x.bound[r] = b
	}
	return b
}
