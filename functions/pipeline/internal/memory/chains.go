package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// Chains implements [pipeline.Chains]. The zero value is empty and ready for use. It is safe for concurrent use.
type Chains struct{ store Store }

// Add implements [pipeline.Chains].
func (c *Chains) Add(ctx context.Context, chain string, n int, data []byte) error {
	_, err := c.store.Put(ctx, pipeline.LinkKey(chain, n), data, "")
	return err
}

// Link implements [pipeline.Chains].
func (c *Chains) Link(ctx context.Context, chain string, n int) ([]byte, error) {
	rec, err := c.store.Get(ctx, pipeline.LinkKey(chain, n))
	if err == nil && rec.Version == "" {
		err = pipeline.ErrNoLink
	}
	return rec.Value, err
}

// Last implements [pipeline.Chains].
func (c *Chains) Last(ctx context.Context, chain string, from int) (int, error) {
	list, err := c.store.List(ctx, chain)
	for _, rec := range list {
		_, n, _ := pipeline.LinkOf(rec.Key)
		from = max(from, n)
	}
	return from, err
}

// Expire removes a record, as a bucket does at the end of its retention.
func (c *Chains) Expire(chain string, n int) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	delete(c.store.records, pipeline.LinkKey(chain, n))
}

// All returns the records of all chains, by their names.
func (c *Chains) All() map[string][][]byte {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	out := map[string][][]byte{}
	for key := range c.store.records {
		chain, _, _ := pipeline.LinkOf(key)
		out[chain] = nil
	}
	for chain := range out {
		for _, rec := range c.store.list(chain) {
			out[chain] = append(out[chain], slices.Clone(rec.Value))
		}
	}
	return out
}

// Chains returns chains whose calls pass through the gate before they reach c. The names of the calls are "add",
// "link" and "last" with the name of the chain.
func (g Gate) Chains(c pipeline.Chains) pipeline.Chains { return gatedChains{c, g} }

type gatedChains struct {
	chains pipeline.Chains
	gate   Gate
}

func (c gatedChains) Add(ctx context.Context, chain string, n int, data []byte) error {
	return c.gate(ctx, Effect{Call: fmt.Sprintf("add %s %d", chain, n), With: data}, func(ctx context.Context) error { return c.chains.Add(ctx, chain, n, data) })
}

func (c gatedChains) Link(ctx context.Context, chain string, n int) ([]byte, error) {
	return Read(ctx, c.gate, fmt.Sprintf("link %s %d", chain, n), func(ctx context.Context) ([]byte, error) { return c.chains.Link(ctx, chain, n) })
}

func (c gatedChains) Last(ctx context.Context, chain string, from int) (int, error) {
	return Read(ctx, c.gate, "last "+chain, func(ctx context.Context) (int, error) { return c.chains.Last(ctx, chain, from) })
}
