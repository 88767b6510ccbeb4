package provider_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/providertest"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

var lab = addrs.Provider{Host: addrs.DefaultRegistryHost, Namespace: "lockstep", Type: "lab"}

// events are what happens to processes, in order.
type events struct {
	mu    sync.Mutex
	lines []string
}

func (e *events) add(line string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lines = append(e.lines, line)
}

func (e *events) sorted() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Sorted(slices.Values(e.lines))
}

// noted is a client that notes what the pool does with it.
type noted struct {
	provider.Client
	*events
	warning bool
}

func (n *noted) Schema(ctx context.Context) (*schema.Provider, diags.Diagnostics) {
	s, ds := n.Client.Schema(ctx)
	if n.warning {
		ds = append(ds, diags.Warningf(nil, "Odd schema", "")...)
	}
	return s, ds
}

func (n *noted) Stop(ctx context.Context) error {
	n.add("stop")
	return n.Client.Stop(ctx)
}

func (n *noted) Close() error {
	n.add("close")
	return n.Client.Close()
}

// noting is a factory of noted clients.
func noting(p *providertest.Provider, e *events) provider.Factory {
	return func(_ context.Context, declared *schema.Provider) (provider.Client, error) {
		line := "start"
		if declared != nil {
			line = "start, schema known"
		}
		e.add(line)
		return &noted{Client: p.Client(), events: e, warning: true}, nil
	}
}

func config(alias string) addrs.AbsProviderConfig {
	return addrs.AbsProviderConfig{Provider: lab, Alias: alias}
}

const text = "resource thing\n  id string computed keep\n  name string required\n"

// TestSharing: one process tells the schema, validates, and is the first
// configuration's; each further configuration has its own.
func TestSharing(t *testing.T) {
	var e events
	pool := provider.NewPool(map[addrs.Provider]provider.Factory{lab: noting(providertest.New(t, text), &e)})
	pool.Prestart(lab, addrs.DefaultProvider("aws")) // which has no factory
	ctx := t.Context()
	get := func(alias string) provider.Client {
		c, ds := pool.Client(ctx, config(alias))
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		return c
	}
	declared, ds := pool.Schema(ctx, lab)
	if declared.Resource("managed", "thing") == nil || len(ds) != 1 {
		t.Errorf("schema: %v, %v", declared, ds)
	}
	if again, ds := pool.Schema(ctx, lab); again != declared || len(ds) != 0 {
		t.Errorf("the schema once more: %v", ds)
	}
	shared, _ := pool.Unconfigured(ctx, lab)
	main, west := get(""), get("west")
	if main != shared {
		t.Error("the first configuration does not take the process that told the schema")
	}
	if west == main || get("west") != west || get("") != main {
		t.Error("configurations do not keep to their processes")
	}
	if err := pool.Stop(ctx); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	}
	want := []string{"close", "close", "start", "start, schema known", "stop", "stop"}
	if diff := cmp.Diff(want, e.sorted()); diff != "" {
		t.Error(diff)
	}
	for name, ds := range map[string]diags.Diagnostics{
		"a configuration": second(pool.Client(ctx, config("east"))),
		"a provider":      second(pool.Unconfigured(ctx, lab)),
	} {
		if !ds.HasErrors() {
			t.Errorf("%s after the end", name)
		}
	}
}

func second(_ provider.Client, ds diags.Diagnostics) diags.Diagnostics { return ds }

// TestUnavailable: what cannot be started, and what nobody has installed.
func TestUnavailable(t *testing.T) {
	starts := 0
	pool := provider.NewPool(map[addrs.Provider]provider.Factory{
		lab: func(context.Context, *schema.Provider) (provider.Client, error) {
			starts++
			return nil, errors.New("out of memory")
		},
	})
	defer pool.Close()
	for range 2 {
		_, ds := pool.Schema(t.Context(), lab)
		if !ds.HasErrors() || ds[0].Summary != "Provider lockstep/lab could not be started" || ds[0].Detail != "Out of memory." {
			t.Errorf("a failing start: %v", ds)
		}
	}
	if starts != 1 {
		t.Errorf("%d starts", starts)
	}
	_, ds := pool.Schema(t.Context(), addrs.DefaultProvider("aws"))
	if !ds.HasErrors() || !strings.Contains(ds.Error(), "hashicorp/aws") || !strings.Contains(ds.Error(), "lockstep init") {
		t.Errorf("a provider that is not installed: %v", ds)
	}
}

// TestSlowStart: whoever waits for a start can give up, and closing gives up the start.
func TestSlowStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := provider.NewPool(map[addrs.Provider]provider.Factory{
			lab: func(ctx context.Context, _ *schema.Provider) (provider.Client, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, ds := pool.Client(ctx, config("")); !ds.HasErrors() || ds[0].Summary != "Request cancelled" {
			t.Errorf("a wait that was given up: %v", ds)
		}
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestGuard: an interrupted run stops its providers, and does not wait for ever.
func TestGuard(t *testing.T) {
	for name, tc := range map[string]struct {
		interrupt bool
		hangs     bool // the provider does not take note of the stop
		want      []string
	}{
		"nothing happens":   {false, false, []string{"start"}},
		"a call is stopped": {true, false, []string{"start", "stop"}},
		"a call hangs":      {true, true, []string{"close", "start", "stop"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := providertest.New(t, text)
				answered := make(chan struct{})
				var e events
				pool := provider.NewPool(map[addrs.Provider]provider.Factory{
					lab: func(context.Context, *schema.Provider) (provider.Client, error) {
						e.add("start")
						return &interrupted{noted{Client: p.Client(), events: &e}, tc.hangs, answered}, nil
					},
				})
				ctx, cancel := context.WithCancel(t.Context())
				release := pool.Guard(ctx, 10*time.Second)
				if _, ds := pool.Client(ctx, config("")); ds.HasErrors() {
					t.Fatal(ds)
				}
				if tc.interrupt {
					cancel()
					<-answered
				}
				release()
				synctest.Wait()
				if diff := cmp.Diff(tc.want, e.sorted()); diff != "" {
					t.Error(diff)
				}
				cancel()
				pool.Close()
			})
		})
	}
}

// interrupted is a client with a call under way, which ends when it is stopped, or, if
// it hangs, only when it is closed.
type interrupted struct {
	noted
	hangs    bool
	answered chan struct{}
}

func (c *interrupted) Stop(context.Context) error {
	c.add("stop")
	if !c.hangs {
		close(c.answered)
	}
	return nil
}

func (c *interrupted) Close() error {
	c.add("close")
	if c.hangs {
		close(c.answered)
	}
	return nil
}

// TestFunctionError is what the type is for.
func TestFunctionError(t *testing.T) {
	p := providertest.New(t, "function f(a string) string\non call f fail \"not today\"")
	_, err := p.Client().CallFunction(t.Context(), "f", []cty.Value{cty.StringVal("x")})
	var fe *provider.FunctionError
	if !errors.As(err, &fe) || fe.Error() != "not today" {
		t.Errorf("%v", err)
	}
}
