package testruns

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// processes are the provider processes of a suite. A process can be configured only once, so all runs with
// the same configuration share it.
type processes struct {
	providers session.Providers

	renewPool func() // may be nil

	mu    sync.Mutex
	list  []*process
	begun int // number of processes that were added to list, now and before
	valid map[addrs.Provider]*validations
}

// validations returns the kept validation results of a provider.
func (p *processes) validations(addr addrs.Provider) *validations {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.valid[addr] == nil {
		if p.valid == nil {
			p.valid = map[addrs.Provider]*validations{}
		}
		p.valid[addr] = new(validations)
	}
	return p.valid[addr]
}

// A process is a provider process and its configuration.
type process struct {
	provider addrs.Provider
	value    cty.Value
	alias    string
	once     sync.Once
	started  atomic.Bool // client and ds are set
	client   provider.Client
	ds       diags.Diagnostics
}

// renew forgets the processes that are gone, so that the next run starts new ones.
func (p *processes) renew() {
	if p.renewPool != nil {
		p.renewPool()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = slices.DeleteFunc(p.list, func(x *process) bool { return x.started.Load() && x.client != nil && provider.Lost(x.client) })
}

// configured returns the provider process with this configuration. It starts and configures the process at
// the first call.
func (p *processes) configured(ctx context.Context, addr addrs.Provider, value cty.Value) (provider.Client, diags.Diagnostics) {
	p.mu.Lock()
	var found *process
	for _, x := range p.list {
		if x.provider == addr && x.value.RawEquals(value) {
			found = x
		}
	}
	if found == nil {
		p.begun++
		found = &process{provider: addr, value: value, alias: fmt.Sprintf("test-%d", p.begun)}
		p.list = append(p.list, found)
	}
	p.mu.Unlock()
	found.once.Do(func() {
		found.client, found.ds = p.providers.Client(ctx, addrs.AbsProviderConfig{Provider: addr, Alias: found.alias})
		if !found.ds.HasErrors() {
			found.ds = append(found.ds, found.client.Configure(ctx, value)...)
		}
		found.started.Store(true)
	})
	return found.client, found.ds
}

// providersOf returns the providers for a run: real ones, mocks, and overrides.
func (r *run) providersOf(v *variant) session.Providers {
	p := &runProviders{processes: r.processes, variant: v, seed: r.seed(), overrides: r.overrides()}
	if r.in.MocksOnly {
		p.refusedAt = &r.Run.Range
	}
	return p
}

// runProviders are the providers of one run.
type runProviders struct {
	processes *processes
	variant   *variant
	seed      string
	overrides []override
	// refusedAt is the place of the run if it must not configure real providers; nil if it may.
	refusedAt *hcl.Range
}

func (p *runProviders) Schema(ctx context.Context, addr addrs.Provider) (*schema.Provider, diags.Diagnostics) {
	return p.processes.providers.Schema(ctx, addr)
}

func (p *runProviders) Unconfigured(ctx context.Context, addr addrs.Provider) (provider.Client, diags.Diagnostics) {
	return p.processes.providers.Unconfigured(ctx, addr)
}

func (p *runProviders) Client(ctx context.Context, pc addrs.AbsProviderConfig) (provider.Client, diags.Diagnostics) {
	bare, ds := p.Unconfigured(ctx, pc.Provider)
	if ds.HasErrors() {
		return nil, ds
	}
	declared, ds := p.Schema(ctx, pc.Provider)
	if ds.HasErrors() {
		return nil, ds
	}
	c := provider.Client(&real{Client: bare, processes: p.processes, provider: pc.Provider})
	if block := p.variant.block(pc); block != nil && block.Mocked {
		c = &mock{Client: bare, declared: declared, seed: p.seed, mock: p.variant.mocks[block], valid: p.processes.validations(pc.Provider)}
	} else if p.refusedAt != nil && !pc.Provider.IsBuiltin() {
		return nil, diags.Errorf(p.refusedAt, "Provider is not mocked",
			"This run needs the provider %s. Here tests run with mocks only: no provider is configured, and none gets credentials. Add a mock_provider %q block to the test file.", pc.Provider, pc.Provider.Type)
	}
	for _, o := range p.overrides {
		if !o.Target.IsModule() {
			return &overriding{Client: c, made: mock{Client: bare, declared: declared, seed: p.seed}, overrides: p.overrides}, nil
		}
	}
	return c, nil
}

// Another returns the same as Client: a configured process is never configured again.
func (p *runProviders) Another(ctx context.Context, pc addrs.AbsProviderConfig) (provider.Client, diags.Diagnostics) {
	return p.Client(ctx, pc)
}

// A real client is a provider that is not mocked. Configure switches it to the shared process with this
// configuration.
type real struct {
	provider.Client
	processes *processes
	provider  addrs.Provider
}

func (c *real) Configure(ctx context.Context, value cty.Value) diags.Diagnostics {
	client, ds := c.processes.configured(ctx, c.provider, value)
	if !ds.HasErrors() {
		c.Client = client
	}
	return ds
}
