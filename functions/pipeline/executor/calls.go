package executor

import (
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// calls counts the calls of providers.
type calls struct {
	mu  sync.Mutex
	all jobs.Calls
}

func (c *calls) add(method string, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = jobs.Calls{}
	}
	c.all.Add(method, took)
}

// take returns the calls so far, and forgets them.
func (c *calls) take() jobs.Calls {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.all
	c.all = nil
	return all
}
