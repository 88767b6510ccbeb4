//go:build unix

package process_test

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// TestCrash: whatever ends a plugin in the middle of a call, the call ends too, and
// says what happened.
func TestCrash(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		source, typeName, trouble string
		kill                      bool
		want, not                 string
	}{
		"panic":         {"lockstep/lab", "lab_thing", "create-panic", false, "panic: asked to panic\n  at ", "goroutine"},
		"panic, legacy": {"lockstep/labv5", "labv5_item", "create-panic", false, "panic: asked to panic\n  at ", "goroutine"},
		"exit":          {"lockstep/lab", "lab_thing", "create-exit", false, "exit status 3", "goroutine"},
		"kill -9":       {"lockstep/lab", "lab_thing", "create-hang", true, "signal: killed", "bug in the provider"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := run(t, tc.source)
			config := p.managed(tc.typeName, attrs{"name": str("a"), "trouble": str(tc.trouble)})
			plan, ds := p.plan(tc.typeName, cty.NilVal, config, nil)
			p.must(ds)
			if tc.kill {
				pid := p.pid()
				p.whenUnderWay("create", func() { syscall.Kill(pid, syscall.SIGKILL) })
			}
			done, ds := p.Apply(t.Context(), provider.ApplyRequest{TypeName: tc.typeName, Prior: cty.NullVal(config.Type()), Planned: plan.Planned, Config: config})
			if done.New != cty.NilVal || !done.Unanswered {
				t.Errorf("a plugin that died answered %#v", done)
			}
			text := ds.Error()
			for _, want := range []string{"Plugin did not respond", tc.source, "ApplyResourceChange", tc.want} {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in the diagnostic:\n%s", want, text)
				}
			}
			if strings.Contains(text, tc.not) {
				t.Errorf("%q is in the diagnostic:\n%s", tc.not, text)
			}
			if ds := p.ValidateResource(t.Context(), tc.typeName, config); !ds.HasErrors() {
				t.Error("a dead plugin answers")
			}
		})
	}
}

// TestStop: a call that hangs answers when the provider is stopped.
func TestStop(t *testing.T) {
	t.Parallel()
	p := run(t, "lockstep/lab")
	config := p.managed("lab_thing", attrs{"name": str("a"), "trouble": str("create-hang")})
	stopped := make(chan error)
	p.whenUnderWay("create", func() { stopped <- p.Stop(t.Context()) })
	_, ds := p.change("lab_thing", cty.NilVal, config, nil)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if !ds.HasErrors() || !strings.Contains(ds.Error(), "stopped") {
		t.Errorf("the call ended with %v", ds)
	}
}

// TestCancel: a call ends with its context, and a plugin that still hangs can be ended.
func TestCancel(t *testing.T) {
	t.Parallel()
	p := run(t, "lockstep/lab")
	config := p.managed("lab_thing", attrs{"name": str("a"), "trouble": str("create-600000")})
	plan, ds := p.plan("lab_thing", cty.NilVal, config, nil)
	p.must(ds)
	ctx, cancel := context.WithCancel(t.Context())
	p.whenUnderWay("create", cancel)
	done, ds := p.Apply(ctx, provider.ApplyRequest{TypeName: "lab_thing", Prior: cty.NullVal(config.Type()), Planned: plan.Planned, Config: config})
	if !done.Unanswered || !ds.HasErrors() || ds[0].Summary != "Request cancelled" {
		t.Errorf("the call ended with %v", ds)
	}
	pid := p.pid()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("the process is still there: %v", err)
	}
}

// TestNeverStops: a plugin that does not answer when it is asked to stop is killed after the grace, and
// nobody knows what the call has done.
func TestNeverStops(t *testing.T) {
	t.Parallel()
	p := run(t, "lockstep/lab")
	config := p.managed("lab_thing", attrs{"name": str("a"), "trouble": str("create-600000")})
	plan, ds := p.plan("lab_thing", cty.NilVal, config, nil)
	p.must(ds)
	a := addrs.DefaultProvider("lab")
	pool := provider.NewPool(map[addrs.Provider]provider.Factory{
		a: func(context.Context, *schema.Provider) (provider.Client, error) { return p.Client, nil },
	})
	defer pool.Close()
	c, ds := pool.Unconfigured(t.Context(), a)
	p.must(ds)
	stopping, stop := context.WithCancel(t.Context())
	defer pool.Guard(stopping, 100*time.Millisecond)()
	p.whenUnderWay("create", stop)
	done, ds := c.Apply(t.Context(), provider.ApplyRequest{TypeName: "lab_thing", Prior: cty.NullVal(config.Type()), Planned: plan.Planned, Config: config})
	if !done.Unanswered || !ds.HasErrors() {
		t.Errorf("the call ended with %#v, %v", done, ds)
	}
}

// TestFrozen: a plugin that does not even run is killed when it is closed.
func TestFrozen(t *testing.T) {
	t.Parallel()
	p := run(t, "lockstep/lab")
	pid := p.pid()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("the process is still there: %v", err)
	}
}
