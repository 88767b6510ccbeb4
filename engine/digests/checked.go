package digests

import (
	"maps"
	"sync"
)

// checkedPrefix begins the entry of a block. No address of an instance begins like this.
const checkedPrefix = "validate "

// Checked has the blocks that their providers have accepted without a diagnostic. A provider gives the same answer
// about the same block again, so it need not be asked. The nil Checked has none, and keeps none. Safe for concurrent
// use.
type Checked struct {
	last *Record

	mu      sync.Mutex
	entries map[string]Entry
}

// NewChecked returns the blocks in the record of the last apply, which may be nil.
func NewChecked(last *Record) *Checked { return &Checked{last: last, entries: map[string]Entry{}} }

// Has reports whether the provider has accepted the block with this digest.
func (c *Checked) Has(block string, sum Sum) bool {
	if c == nil {
		return false
	}
	e, ok := c.last.Entry(checkedPrefix + block)
	if ok = ok && e.Sum == sum; ok {
		c.Add(block, sum)
	}
	return ok
}

// Add keeps that the provider has accepted the block.
func (c *Checked) Add(block string, sum Sum) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries[checkedPrefix+block] = Entry{Sum: sum}
}

// AddTo adds the blocks to the entries of a record.
func (c *Checked) AddTo(entries map[string]Entry) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.Copy(entries, c.entries)
}
