package demo

import (
	"context"
	"strings"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider"
)

// A cloud has the real objects, where somebody changed them without Lockstep. All others are as the state has them.
type cloud struct {
	mu       sync.Mutex
	old, new string          // a text in the values of objects, and its replacement; "" for no change
	repaired map[string]bool // the IDs of objects that an apply has changed since then
}

// change replaces a text in all objects, as somebody in the console of a cloud does.
func (c *cloud) change(old, new string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.old, c.new, c.repaired = old, new, map[string]bool{}
}

// over returns the client of a provider whose objects are in the cloud.
func (c *cloud) over(p provider.Client) provider.Client { return clouded{p, c} }

type clouded struct {
	provider.Client
	cloud *cloud
}

// Read implements provider.Client.
func (x clouded) Read(ctx context.Context, req provider.ReadRequest) (provider.ReadResponse, diags.Diagnostics) {
	resp, ds := x.Client.Read(ctx, req)
	c := x.cloud
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.old == "" || ds.HasErrors() || resp.New.IsNull() || c.repaired[idOf(resp.New)] {
		return resp, ds
	}
	now, err := cty.Transform(resp.New, func(_ cty.Path, v cty.Value) (cty.Value, error) {
		if v.IsKnown() && !v.IsNull() && v.Type() == cty.String {
			return cty.StringVal(strings.ReplaceAll(v.AsString(), c.old, c.new)), nil
		}
		return v, nil
	})
	if err == nil {
		resp.New = now
	}
	return resp, ds
}

// Apply implements provider.Client.
func (x clouded) Apply(ctx context.Context, req provider.ApplyRequest) (provider.ApplyResponse, diags.Diagnostics) {
	resp, ds := x.Client.Apply(ctx, req)
	c := x.cloud
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.repaired != nil && !resp.New.IsNull() {
		c.repaired[idOf(resp.New)] = true
	}
	return resp, ds
}

func idOf(v cty.Value) string {
	if id := v.GetAttr("id"); id.IsKnown() && !id.IsNull() {
		return id.AsString()
	}
	return ""
}
