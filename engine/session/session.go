// Package session is what planning and applying share of a run: provider
// configurations, opened once at first need; the configuration value of a
// resource instance; stored objects decoded and new ones encoded.
//
// It decides nothing: which object becomes what, and when, is for planning and
// applying. Start at [Session].
package session

import (
	"context"
	"fmt"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// Providers gives access to provider processes. It is implemented by
// [provider.Pool], and by fakes in tests.
type Providers interface {
	// Schema returns what a provider declares, asking it once.
	Schema(context.Context, addrs.Provider) (*schema.Provider, diags.Diagnostics)
	// Client returns the process for one provider configuration, always the same
	// one, not yet configured when it is first returned.
	Client(context.Context, addrs.AbsProviderConfig) (provider.Client, diags.Diagnostics)
}

// A Session is one phase of one run. Safe for concurrent use.
type Session struct {
	Config    *config.Config
	Refs      *refs.Refs
	Eval      *eval.Evaluator
	Providers Providers
	// AllowUnknown says that provider configurations may hold unknown values.
	AllowUnknown bool

	mu      sync.Mutex
	clients map[addrs.AbsProviderConfig]*client
	bounds  map[*config.Resource]*schema.Bound
	found   diags.Diagnostics
	opened  []opened
}

// A client is a provider configuration, opened or failed.
type client struct {
	once   sync.Once
	client provider.Client
	failed bool
}

// Diagnostics returns what opening provider configurations had to say.
func (s *Session) Diagnostics() diags.Diagnostics {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(diags.Diagnostics(nil), s.found...)
}

// Schema returns the schema of a resource type, and that of its provider.
// place is where to report that the provider has no such type.
func (s *Session) Schema(ctx context.Context, p addrs.Provider, r addrs.Resource, place *hcl.Range) (*schema.Schema, *schema.Provider, diags.Diagnostics) {
	ps, ds := s.Providers.Schema(ctx, p)
	if ds.HasErrors() {
		return nil, nil, ds
	}
	rs := ps.Resource(r.Mode.String(), r.Type)
	if rs == nil {
		return nil, ps, append(ds, UnsupportedType(ps, p, r, place)...)
	}
	return rs, ps, ds
}

// UnsupportedType says that a provider has no such type, and what it has instead.
func UnsupportedType(ps *schema.Provider, p addrs.Provider, r addrs.Resource, place *hcl.Range) diags.Diagnostics {
	what := map[addrs.ResourceMode]string{addrs.Managed: "resource type", addrs.Data: "data source", addrs.Ephemeral: "ephemeral resource type"}
	detail := fmt.Sprintf("The provider %s does not support %s %q.", p.ForDisplay(), what[r.Mode], r.Type)
	for _, other := range []addrs.ResourceMode{addrs.Managed, addrs.Data, addrs.Ephemeral} {
		if other != r.Mode && ps.Resource(other.String(), r.Type) != nil {
			detail += fmt.Sprintf(" Did you intend to use the %s %q? If so, declare it with a block of that kind.", what[other], r.Type)
			break
		}
	}
	return diags.Errorf(place, "Invalid "+what[r.Mode], "%s", detail)
}

// Client returns the process of a provider configuration, configured. What goes
// wrong is kept in [Session.Diagnostics], once; every caller gets [diags.Reported].
func (s *Session) Client(ctx context.Context, pc addrs.AbsProviderConfig) (provider.Client, diags.Diagnostics) {
	s.mu.Lock()
	if s.clients == nil {
		s.clients = map[addrs.AbsProviderConfig]*client{}
	}
	c := s.clients[pc]
	if c == nil {
		c = new(client)
		s.clients[pc] = c
	}
	s.mu.Unlock()
	c.once.Do(func() {
		var ds diags.Diagnostics
		c.client, ds = s.open(ctx, pc)
		c.failed = ds.HasErrors()
		s.mu.Lock()
		s.found = append(s.found, ds.At(pc.String()).Unreported()...)
		s.mu.Unlock()
	})
	if c.failed {
		return nil, diags.Reported()
	}
	return c.client, nil
}

// open starts and configures a provider configuration.
func (s *Session) open(ctx context.Context, pc addrs.AbsProviderConfig) (provider.Client, diags.Diagnostics) {
	ps, ds := s.Providers.Schema(ctx, pc.Provider)
	if ds.HasErrors() {
		return nil, ds
	}
	val, place, more := s.providerConfig(pc, ps)
	if ds = append(ds, more...); ds.HasErrors() {
		return nil, ds
	}
	if !s.AllowUnknown && !val.IsWhollyKnown() {
		return nil, append(ds, diags.Errorf(place, "Invalid provider configuration",
			"The configuration for %s depends on values that cannot be determined until apply.", pc)...)
	}
	c, more := s.Providers.Client(ctx, pc)
	if ds = append(ds, more...); ds.HasErrors() {
		return nil, ds
	}
	more = c.ValidateProvider(ctx, val)
	if ds = append(ds, s.place(more, place)...); ds.HasErrors() {
		return nil, ds
	}
	more = c.Configure(ctx, val)
	return c, append(ds, s.place(more, place)...)
}

// providerConfig evaluates a provider block; without one, an empty one.
func (s *Session) providerConfig(pc addrs.AbsProviderConfig, ps *schema.Provider) (cty.Value, *hcl.Range, diags.Diagnostics) {
	m := s.Config.Modules[pc.Module]
	block := s.providerBlock(m, pc)
	if m == nil || block == nil && (pc.Alias != "" || !pc.Module.IsRoot()) {
		return cty.NilVal, nil, diags.Errorf(nil, "Provider configuration not present",
			"To work with an object that the state keeps, its original provider configuration at %s is required, but it has been removed. This occurs when a provider configuration is removed while objects created by that provider still exist in the state. Re-add the provider configuration to destroy the object, after which you can remove the provider configuration again.", pc)
	}
	if block == nil {
		val, ds := ps.Provider.Block.Decode(hcl.EmptyBody(), nil)
		if ds.HasErrors() {
			return val, nil, diags.Errorf(nil, "Invalid provider configuration",
				"Provider %q requires explicit configuration. Add a provider block to the root module and configure the provider's required arguments as described in the provider documentation.", pc.Provider)
		}
		return val, nil, ds
	}
	ins, ds := s.Eval.Modules(m)
	if ds.HasErrors() || len(ins) == 0 {
		return cty.NilVal, nil, append(ds, diags.Reported()...)
	}
	ctx, more := s.Eval.BlockContext(block, eval.Scope{Module: ins[0]})
	if ds = append(ds, more...); ds.HasErrors() {
		return cty.NilVal, nil, ds
	}
	val, more := ps.Provider.Block.Decode(block.Body, ctx)
	val, _ = val.UnmarkDeep()
	return val, block.Range.Ptr(), append(ds, more...)
}

// providerBlock returns the block of a provider configuration, or nil.
func (s *Session) providerBlock(m *config.Module, pc addrs.AbsProviderConfig) *config.Provider {
	if m == nil {
		return nil
	}
	for local, p := range m.Providers {
		if local.Alias == pc.Alias && m.ProviderOf(local.LocalName) == pc.Provider {
			return p
		}
	}
	return nil
}

// place fills in the place of diagnostics that a provider gave.
func (s *Session) place(ds diags.Diagnostics, rng *hcl.Range) diags.Diagnostics {
	for i := range ds {
		if ds[i].Subject == nil {
			ds[i].Subject = rng
		}
	}
	return ds
}

// ResourceConfig evaluates the body of a resource for one instance. The value
// carries marks and conforms to the schema.
func (s *Session) ResourceConfig(r *config.Resource, rs *schema.Schema, scope eval.Scope) (cty.Value, diags.Diagnostics) {
	ctx, ds := s.Eval.BlockContext(r, scope)
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	s.mu.Lock()
	if s.bounds == nil {
		s.bounds = map[*config.Resource]*schema.Bound{}
	}
	b := s.bounds[r]
	if b == nil {
		b = rs.Block.Bind(r.Body)
		s.bounds[r] = b
	}
	s.mu.Unlock()
	val, more := b.Decode(ctx)
	return val, append(ds, more...)
}

// Places gives diagnostics that a provider gave for a resource the place of the
// attribute they name, as far as the body has it, or else that of the block.
func Places(ds diags.Diagnostics, r *config.Resource, address string) diags.Diagnostics {
	for i := range ds {
		if ds[i].Subject == nil && r != nil {
			ds[i].Subject = attributeRange(r, ds[i].Attribute)
		}
		if ds[i].Address == "" {
			ds[i].Address = address
		}
	}
	return ds
}

// attributeRange returns where the attribute that a path starts with is written.
func attributeRange(r *config.Resource, path cty.Path) *hcl.Range {
	if len(path) > 0 {
		if step, ok := path[0].(cty.GetAttrStep); ok {
			attrs, _ := r.Body.JustAttributes()
			if a := attrs[step.Name]; a != nil {
				return a.Expr.Range().Ptr()
			}
		}
	}
	return r.Range.Ptr()
}
