package session

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider"
)

// A limited client delays calls that may reach a server while too many calls to its provider are in progress.
// Most calls need not wait, because walks begin no node whose provider is busy: see
// [Environment.LimitProviders]. But ephemeral resources and provider configurations are opened when first
// needed, during the step of another resource.
//
// Renewing and closing an ephemeral resource do not wait: after a creation of many minutes they would be too
// late.
type limited struct {
	provider.Client
	places chan struct{} // a semaphore: its capacity is the number of calls allowed at a time
}

// limited returns a client that observes the limit of its provider; c itself if there is no limit.
func (s *Session) limited(p addrs.Provider, c provider.Client) provider.Client {
	limit := s.callsOf(p)
	if limit == 0 {
		return c
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.places == nil {
		s.places = map[addrs.Provider]chan struct{}{}
	}
	if s.places[p] == nil {
		s.places[p] = make(chan struct{}, limit)
	}
	return &limited{c, s.places[p]}
}

// whenAllowed makes a call as soon as the limit of c allows. It returns an error if ctx ends first.
func whenAllowed[T any](ctx context.Context, c *limited, call func() (T, diags.Diagnostics)) (T, diags.Diagnostics) {
	select {
	case c.places <- struct{}{}:
	case <-ctx.Done():
		var none T
		return none, diags.Errorf(nil, "Request cancelled", "The provider was not called: %s.", context.Cause(ctx))
	}
	defer func() { <-c.places }()
	return call()
}

func (c *limited) Configure(ctx context.Context, config cty.Value) diags.Diagnostics {
	_, ds := whenAllowed(ctx, c, func() (struct{}, diags.Diagnostics) { return struct{}{}, c.Client.Configure(ctx, config) })
	return ds
}

func (c *limited) Read(ctx context.Context, req provider.ReadRequest) (provider.ReadResponse, diags.Diagnostics) {
	return whenAllowed(ctx, c, func() (provider.ReadResponse, diags.Diagnostics) { return c.Client.Read(ctx, req) })
}

func (c *limited) Plan(ctx context.Context, req provider.PlanRequest) (provider.PlanResponse, diags.Diagnostics) {
	return whenAllowed(ctx, c, func() (provider.PlanResponse, diags.Diagnostics) { return c.Client.Plan(ctx, req) })
}

func (c *limited) Apply(ctx context.Context, req provider.ApplyRequest) (provider.ApplyResponse, diags.Diagnostics) {
	return whenAllowed(ctx, c, func() (provider.ApplyResponse, diags.Diagnostics) { return c.Client.Apply(ctx, req) })
}

func (c *limited) Import(ctx context.Context, req provider.ImportRequest) ([]provider.Imported, diags.Diagnostics) {
	return whenAllowed(ctx, c, func() ([]provider.Imported, diags.Diagnostics) { return c.Client.Import(ctx, req) })
}

func (c *limited) ReadData(ctx context.Context, typeName string, config, meta cty.Value) (cty.Value, diags.Diagnostics) {
	return whenAllowed(ctx, c, func() (cty.Value, diags.Diagnostics) { return c.Client.ReadData(ctx, typeName, config, meta) })
}

func (c *limited) PlanAction(ctx context.Context, typeName string, config cty.Value) diags.Diagnostics {
	_, ds := whenAllowed(ctx, c, func() (struct{}, diags.Diagnostics) { return struct{}{}, c.Client.PlanAction(ctx, typeName, config) })
	return ds
}

func (c *limited) InvokeAction(ctx context.Context, typeName string, config cty.Value, progress func(string)) (provider.InvokeResponse, diags.Diagnostics) {
	return whenAllowed(ctx, c, func() (provider.InvokeResponse, diags.Diagnostics) {
		return c.Client.InvokeAction(ctx, typeName, config, progress)
	})
}

func (c *limited) OpenEphemeral(ctx context.Context, typeName string, config cty.Value) (provider.OpenResponse, diags.Diagnostics) {
	return whenAllowed(ctx, c, func() (provider.OpenResponse, diags.Diagnostics) {
		return c.Client.OpenEphemeral(ctx, typeName, config)
	})
}
