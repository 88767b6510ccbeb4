// Package session has what planning and applying share. It opens provider configurations when first needed,
// evaluates the configuration of a resource instance, decodes and encodes stored objects, makes the calls to
// providers that both phases need, and checks the answers.
//
// It decides nothing: planning and applying choose the action for an object, and when it happens. Start at
// [Session].
package session

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/digests"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// Providers gives access to provider processes. [provider.Pool] implements it, and fakes in tests.
type Providers interface {
	// Schema returns the schemas of a provider. It asks the provider only once.
	Schema(context.Context, addrs.Provider) (*schema.Provider, diags.Diagnostics)
	// Unconfigured returns a process that needs no configuration, for validation and functions.
	Unconfigured(context.Context, addrs.Provider) (provider.Client, diags.Diagnostics)
	// Client returns the process for one provider configuration, always the same process. When first
	// returned, it is not configured yet.
	Client(context.Context, addrs.AbsProviderConfig) (provider.Client, diags.Diagnostics)
	// Another returns a process that is not configured yet. From then on, Client returns the same process for
	// the configuration.
	Another(context.Context, addrs.AbsProviderConfig) (provider.Client, diags.Diagnostics)
}

// A Session is one phase of one run. Safe for concurrent use.
type Session struct {
	Environment
	Eval *eval.Evaluator
	// Known is true in an apply: an unknown value in a provider configuration is then an error.
	Known bool

	mu      sync.Mutex
	clients map[addrs.AbsProviderConfig]*client
	former  map[addrs.AbsProviderConfig]*client // of an earlier session: see Inherit
	places  map[addrs.Provider]chan struct{}    // semaphores of providers with a limit
	own     Bodies
	found   diags.Diagnostics
	opened  []*opened
	// instances are the instances of provider configurations with for_each, by configuration.
	instances map[addrs.AbsProviderConfig]map[addrs.InstanceKey]*eval.Instance
	// digests are the digests of the values of the opened provider configurations. A configuration with an
	// unknown value has none.
	digests map[addrs.AbsProviderConfig]digests.Sum
	// ephemerals are the digests of the arguments of ephemeral resources. The zero Sum stands for arguments
	// without a digest.
	ephemerals map[addrs.ConfigResource]map[addrs.AbsResourceInstance]digests.Sum
}

// A client is a provider configuration that was opened, or could not be opened.
type client struct {
	once   sync.Once
	client provider.Client
	value  cty.Value // the value of the provider block
	ds     diags.Diagnostics
	failed bool
}

// Diagnostics returns the diagnostics of opening provider configurations, each once.
func (s *Session) Diagnostics() diags.Diagnostics {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(diags.Diagnostics(nil), s.found...)
}

// Schema returns the schema of a resource type and the schema of its provider. place is the source range for
// the error if the provider has no such type.
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

// UnsupportedType returns the error for a resource type that a provider does not have, or whose schema cannot
// be decoded. It suggests the same type of another mode.
func UnsupportedType(ps *schema.Provider, p addrs.Provider, r addrs.Resource, place *hcl.Range) diags.Diagnostics {
	if err := ps.Broken(r.Mode.String(), r.Type); err != nil {
		return diags.Errorf(place, "Invalid provider schema",
			"The provider %s declares the type %q in a way that cannot be understood: %s. This is a bug in the provider.", p.ForDisplay(), r.Type, err)
	}
	what := map[addrs.ResourceMode]string{addrs.Managed: "resource type", addrs.Data: "data source", addrs.Ephemeral: "ephemeral resource", addrs.Action: "action"}
	detail := fmt.Sprintf("The provider %s does not support %s %q.", p.ForDisplay(), what[r.Mode], r.Type)
	for _, other := range []addrs.ResourceMode{addrs.Managed, addrs.Data, addrs.Ephemeral, addrs.Action} {
		if other != r.Mode && ps.Resource(other.String(), r.Type) != nil {
			detail += fmt.Sprintf("\n\nDid you intend to use the %s %q? If so, declare it with a block of that kind.", what[other], r.Type)
			return diags.Errorf(place, "Invalid "+what[r.Mode], "%s", detail)
		}
	}
	if r.Mode != addrs.Ephemeral { // as in Terraform 1.11
		detail += diags.Suggest(r.Type, ps.Names(r.Mode.String()))
	}
	return diags.Errorf(place, "Invalid "+what[r.Mode], "%s", detail)
}

// Inherit makes the session use the provider configurations of an earlier session of the same phase, which has
// ended. A configuration whose value has changed since is opened again, in another process: a process can be
// configured only once.
func (s *Session) Inherit(earlier *Session) {
	if earlier != nil {
		s.former = maps.Clone(earlier.former)
		if s.former == nil {
			s.former = map[addrs.AbsProviderConfig]*client{}
		}
		maps.Copy(s.former, earlier.clients)
	}
}

// inherited returns what an earlier session has opened with the same value; nil if there is nothing.
func (s *Session) inherited(pc addrs.AbsProviderConfig, value cty.Value) *client {
	if c := s.former[pc]; c != nil && !c.failed && c.value != cty.NilVal && c.value.RawEquals(value) {
		return c
	}
	return nil
}

// Client returns the configured process of a provider configuration. Its diagnostics are kept once, in
// [Session.Diagnostics]. After a failure every caller gets [diags.Reported].
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
		c.client, c.value, c.ds = s.open(ctx, pc)
		c.failed = c.ds.HasErrors()
		s.mu.Lock()
		s.found = append(s.found, c.ds.Unreported()...)
		s.mu.Unlock()
	})
	if c.failed {
		return nil, diags.Reported()
	}
	return c.client, nil
}

// ResourceConfig evaluates the body of a resource for one instance. The value has marks and conforms to the
// schema.
func (s *Session) ResourceConfig(r *config.Resource, rs *schema.Schema, scope eval.Scope) (cty.Value, diags.Diagnostics) {
	ctx, ds := s.Eval.BlockContext(r, scope)
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	defer budget.Of(ctx).Enter(&place{r, scope.Module, scope.Instance}).Leave()
	bound := s.Bound(r, rs)
	if mistakes := s.Eval.Mistakes(r); len(mistakes) > 0 {
		used := bound.Expanded(ctx)
		mistakes = slices.DeleteFunc(slices.Clone(mistakes), func(d diags.Diagnostic) bool {
			return !slices.ContainsFunc(used, func(t hcl.Traversal) bool { return t.SourceRange().Overlaps(*d.Subject) })
		})
		if len(mistakes) > 0 {
			return cty.DynamicVal, append(ds, mistakes...)
		}
	}
	val, more := bound.Decode(ctx)
	return val, append(ds, more...)
}

// Bound returns the body of a resource matched with its schema. It is matched only once.
func (s *Session) Bound(r *config.Resource, rs *schema.Schema) *schema.Bound {
	if s.Bodies != nil {
		return s.Bodies.of(r, rs)
	}
	return s.own.of(r, rs)
}

// Place adds the address of a resource instance to diagnostics without an address, and the source range of
// the attribute that they are about. If r is nil, it adds no range.
func (s *Session) Place(ds diags.Diagnostics, r *config.Resource, rs *schema.Schema, address string) diags.Diagnostics {
	for i := range ds {
		if ds[i].Subject == nil && r != nil && rs != nil {
			ds[i].Subject = s.Bound(r, rs).Locate(ds[i].Attribute).Ptr()
		}
		if ds[i].Address == "" {
			ds[i].Address = address
		}
	}
	return ds
}

// Complete does what [Session.Place] does, but only for diagnostics with neither an address nor a source
// range: these are about the instance as a whole.
func (s *Session) Complete(ds diags.Diagnostics, r *config.Resource, rs *schema.Schema, address string) diags.Diagnostics {
	for i := range ds {
		if ds[i].Subject == nil && ds[i].Address == "" {
			s.Place(ds[i:i+1], r, rs, address)
		}
	}
	return ds
}
