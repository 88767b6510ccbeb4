package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// A Factory starts a provider process (or an equivalent). declared is the provider's schema, if another
// process has already returned it. If declared is nil, the client must ask for the schema. ctx limits only
// the start.
type Factory func(ctx context.Context, declared *schema.Provider) (Client, error)

// A Pool starts the processes of a run when they are needed, shares them, and ends all of them. A process can
// be configured only once. So each provider configuration has its own process; the first configuration of a
// provider uses the process that returned the schema. A Pool is safe for concurrent use.
type Pool struct {
	factories map[addrs.Provider]Factory

	// ctx ends when the pool is closed. Processes that are still starting then give up.
	ctx        context.Context
	cancel     context.CancelFunc
	background sync.WaitGroup

	closing  sync.Once
	closeErr error

	mu      sync.Mutex
	closed  bool
	first   map[addrs.Provider]*start          // the process that returns the schema
	taken   map[addrs.Provider]bool            // first is used by a configuration
	warned  map[addrs.Provider]bool            // warnings of the schema were returned
	configs map[addrs.AbsProviderConfig]*start // the process of each configuration
	all     []*start
}

// start is a process that was requested: it is starting, running, or has failed.
type start struct {
	provider addrs.Provider
	done     chan struct{} // closed when client or err is set
	client   Client
	err      error
}

// NewPool returns a pool without processes. The caller must close it.
func NewPool(factories map[addrs.Provider]Factory) *Pool {
	ctx, cancel := context.WithCancel(context.Background())
	return &Pool{
		factories: factories,
		ctx:       ctx,
		cancel:    cancel,
		first:     make(map[addrs.Provider]*start),
		taken:     make(map[addrs.Provider]bool),
		warned:    make(map[addrs.Provider]bool),
		configs:   make(map[addrs.AbsProviderConfig]*start),
	}
}

// Prestart starts one process for each of the providers in the background, and asks it for its schema. Errors
// are returned later, to the callers that need the provider. Providers without a factory are ignored.
func (p *Pool) Prestart(providers ...addrs.Provider) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, addr := range providers {
		if p.factories[addr] != nil && !p.closed {
			p.primary(addr)
		}
	}
}

// Schema returns a provider's declarations. Only the first caller gets the warnings of the schema.
func (p *Pool) Schema(ctx context.Context, addr addrs.Provider) (*schema.Provider, diags.Diagnostics) {
	client, ds := p.Unconfigured(ctx, addr)
	if ds.HasErrors() {
		return nil, ds
	}
	declared, ds := client.Schema(ctx)
	if len(ds) == 0 || ds.HasErrors() {
		return declared, ds
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.warned[addr] {
		return declared, nil
	}
	p.warned[addr] = true
	return declared, ds
}

// Unconfigured returns a process of the provider, which may or may not be configured. It is for calls that
// need no configuration: schema, validation, functions.
func (p *Pool) Unconfigured(ctx context.Context, addr addrs.Provider) (Client, diags.Diagnostics) {
	p.mu.Lock()
	if ds := p.usable(addr); ds.HasErrors() {
		p.mu.Unlock()
		return nil, ds
	}
	s := p.primary(addr)
	p.mu.Unlock()
	return p.wait(ctx, s)
}

// Client returns the process for a provider configuration. It returns the same process for each call. The
// caller must configure the process, and only once.
func (p *Pool) Client(ctx context.Context, config addrs.AbsProviderConfig) (Client, diags.Diagnostics) {
	p.mu.Lock()
	s := p.configs[config]
	if s == nil {
		if ds := p.usable(config.Provider); ds.HasErrors() {
			p.mu.Unlock()
			return nil, ds
		}
		first := p.primary(config.Provider)
		if s = first; p.taken[config.Provider] {
			s = p.begin(config.Provider, first)
		}
		p.taken[config.Provider] = true
		p.configs[config] = s
	}
	p.mu.Unlock()
	return p.wait(ctx, s)
}

// Another starts a process for a provider configuration that has one already, with other values. From then on,
// [Pool.Client] returns the new process. The old one ends with the pool: it may be the one that others ask for the
// schema.
func (p *Pool) Another(ctx context.Context, config addrs.AbsProviderConfig) (Client, diags.Diagnostics) {
	p.mu.Lock()
	if ds := p.usable(config.Provider); ds.HasErrors() {
		p.mu.Unlock()
		return nil, ds
	}
	s := p.begin(config.Provider, p.primary(config.Provider))
	p.configs[config] = s
	p.mu.Unlock()
	return p.wait(ctx, s)
}

// Renew forgets the processes that are gone, so that the next callers get new ones. A test suite calls it between its
// runs: a provider that crashed in one run must not fail all others.
func (p *Pool) Renew() {
	p.mu.Lock()
	defer p.mu.Unlock()
	gone := func(s *start) bool {
		select {
		case <-s.done:
			return s.err == nil && Lost(s.client)
		default:
			return false
		}
	}
	for addr, s := range p.first {
		if gone(s) {
			delete(p.first, addr)
			delete(p.taken, addr)
		}
	}
	maps.DeleteFunc(p.configs, func(_ addrs.AbsProviderConfig, s *start) bool { return gone(s) })
}

// usable returns an error if no process of a provider can be started. The caller holds p.mu.
func (p *Pool) usable(addr addrs.Provider) diags.Diagnostics {
	switch {
	case p.closed:
		return diags.Errorf(nil, "Provider not available",
			"The run is ending: no process of the provider %s is started any more.", addr.ForDisplay())
	case p.factories[addr] == nil:
		return diags.Errorf(nil, "Provider not installed",
			"The provider %s is needed, and is not installed. Run \"lockstep init\" to install it.", addr.ForDisplay())
	}
	return nil
}

// primary returns the process that returns the provider's schema. If there is none, primary starts it. The
// caller holds p.mu.
func (p *Pool) primary(addr addrs.Provider) *start {
	s := p.first[addr]
	if s == nil {
		s = p.begin(addr, nil)
		p.first[addr] = s
	}
	return s
}

// begin starts a process in the background. If teller is not nil, the new process uses the schema that the
// process teller has returned. Otherwise the new process is asked for its schema. The caller holds p.mu.
func (p *Pool) begin(addr addrs.Provider, teller *start) *start {
	s := &start{provider: addr, done: make(chan struct{})}
	p.all = append(p.all, s)
	p.background.Go(func() {
		s.run(p.ctx, p.factories[addr], teller)
		if s.err == nil && teller == nil {
			// Ask for the schema before anybody needs it. Diagnostics can be ignored here: a failed attempt is
			// not remembered, and the next call returns them.
			s.client.Schema(p.ctx)
		}
	})
	return s
}

// run starts the process. If teller is not nil, run first waits for the process teller, and passes the schema
// of that process on.
func (s *start) run(ctx context.Context, factory Factory, teller *start) {
	defer close(s.done)
	var declared *schema.Provider
	if teller != nil {
		select {
		case <-teller.done:
		case <-ctx.Done():
			s.err = errClosed
			return
		}
		if teller.err == nil {
			declared, _ = teller.client.Schema(ctx)
		}
	}
	s.client, s.err = factory(ctx, declared)
}

// errClosed is the error for a process that was not started because the pool is closed.
var errClosed = errors.New("the run is ending")

// wait waits until the process has started or failed, and returns its client.
func (p *Pool) wait(ctx context.Context, s *start) (Client, diags.Diagnostics) {
	select {
	case <-s.done:
	case <-ctx.Done():
		return nil, diags.Errorf(nil, "Request cancelled",
			"The start of the provider %s was given up: %s.", s.provider.ForDisplay(), context.Cause(ctx))
	}
	if s.err != nil {
		return nil, diags.FromError(fmt.Sprintf("Provider %s could not be started", s.provider.ForDisplay()), s.err)
	}
	return s.client, nil
}

// Stop asks all processes to end running calls early. The calls still return an answer. Stop returns when all
// processes have confirmed, or ctx ends.
func (p *Pool) Stop(ctx context.Context) error {
	var errs errorList
	p.each(ctx, func(c Client) { errs.add(c.Stop(ctx)) })
	return errs.join()
}

// Guard stops the processes when ctx ends. First it asks them to stop. If grace passes without a call of
// release, it kills them, even during a call. So an interrupted run can wait for its calls (made with a
// context that is not cancelled), and a plugin that hangs cannot delay the run for ever.
func (p *Pool) Guard(ctx context.Context, grace time.Duration) (release func()) {
	released := make(chan struct{})
	go func() {
		select {
		case <-released:
			return
		case <-ctx.Done():
		}
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		go func() { _ = p.Stop(bounded) }()
		select {
		case <-released:
		case <-bounded.Done():
			_ = p.Close()
		}
	}()
	var once sync.Once
	return func() { once.Do(func() { close(released) }) }
}

// Close ends all processes and waits until they have ended. Running calls fail. A closed pool starts no
// process; closing it again has no effect.
func (p *Pool) Close() error {
	p.closing.Do(func() {
		p.mu.Lock()
		p.closed = true
		p.mu.Unlock()
		p.cancel()
		var errs errorList
		p.each(context.Background(), func(c Client) { errs.add(c.Close()) })
		p.background.Wait()
		p.closeErr = errs.join()
	})
	return p.closeErr
}

// each calls f for all started processes at the same time, and waits for the calls. It also waits for
// processes that are starting, until ctx ends.
func (p *Pool) each(ctx context.Context, f func(Client)) {
	p.mu.Lock()
	all := p.all
	p.mu.Unlock()
	var wg sync.WaitGroup
	for _, s := range all {
		wg.Go(func() {
			select {
			case <-s.done:
			case <-ctx.Done():
				return
			}
			if s.err == nil {
				f(s.client)
			}
		})
	}
	wg.Wait()
}

// errorList collects errors from several goroutines.
type errorList struct {
	mu   sync.Mutex
	errs []error
}

func (l *errorList) add(err error) {
	if err != nil {
		l.mu.Lock()
		l.errs = append(l.errs, err)
		l.mu.Unlock()
	}
}

func (l *errorList) join() error { return errors.Join(l.errs...) }
