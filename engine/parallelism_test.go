package engine_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/internal/applying"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/providertest"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A load counts the calls of a provider that are under way at a time. Each takes a moment.
type load struct {
	mu        sync.Mutex
	now, most int
	times     []time.Time // the ends of calls
}

func (l *load) call(_ context.Context, call string) {
	if op, _, _ := strings.Cut(call, " "); op == "validate" || op == "upgrade" || op == "close" {
		return // they reach no server, or do not wait
	}
	l.mu.Lock()
	l.now++
	l.most = max(l.most, l.now)
	l.mu.Unlock()
	time.Sleep(5 * time.Millisecond)
	l.mu.Lock()
	l.now--
	l.times = append(l.times, time.Now())
	l.mu.Unlock()
}

// TestProviderParallelism has two providers, of which one has a limit. It gets no more calls at a time in plans and applies, whatever
// configurations and kinds of resources they are for, and the other one is as fast as without it.
func TestProviderParallelism(t *testing.T) {
	const text = `
provider "t" {}
provider "t" { alias = "other" }
ephemeral "t_x" "e" {
  count = 3
  name  = "e${count.index}"
}
provider "v" { region = ephemeral.t_x.e[0].name }
data "t_x" "d" {
  count = 4
  name  = "d${count.index}"
}
resource "t_x" "single" { name = "s" }
resource "t_x" "many" {
  count = 12
  name  = "m${count.index}"
}
resource "t_x" "alias" {
  provider = t.other
  count    = 5
  name     = "a${count.index}"
}
resource "v_x" "a" { name = "a" }
resource "u_x" "many" {
  count = 30
  name  = "m${count.index}"
}
`
	const schema = "provider\n  region string optional\nresource %s_x\n  id string computed keep\n  name string required\ndata %[1]s_x\n  name string required\nephemeral %[1]s_x\n  name string required\n"
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(map[string][]byte{"main.tf": []byte(text)})})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	// run plans, applies, plans again and destroys, and returns the loads of each.
	run := func(limit int) (of map[string][]*load) {
		of = map[string][]*load{}
		fakes := map[string]*providertest.Provider{}
		for _, name := range []string{"t", "u", "v"} {
			fakes[name] = providertest.New(t, fmt.Sprintf(schema, name))
		}
		state := states.Empty()
		for _, mode := range []plans.Mode{plans.NormalMode, plans.NormalMode, plans.DestroyMode} {
			var plan *plans.Plan
			for _, deed := range []string{"plan", "apply"} {
				factories := map[addrs.Provider]provider.Factory{}
				for name, fake := range fakes {
					l := new(load)
					of[name] = append(of[name], l)
					fake.Hook = l.call
					factories[addrs.DefaultProvider(name)] = fake.Start
				}
				pool := provider.NewPool(factories)
				r := engine.Run{Config: cfg, Providers: pool, WorkingDir: t.TempDir(), ProviderParallelism: func(p addrs.Provider) int {
					if p == addrs.DefaultProvider("t") {
						return limit
					}
					return 0
				}}
				if deed == "plan" {
					plan, ds = engine.Plan(t.Context(), r, state, engine.PlanOptions{Mode: mode})
				} else {
					var result applying.Result
					result, ds = engine.Apply(t.Context(), r, plan, engine.ApplyOptions{})
					state = result.State
				}
				if err := pool.Close(); err != nil || ds.HasErrors() {
					t.Fatal(deed, ds, err)
				}
			}
		}
		return of
	}
	most := func(list []*load) (out []int) {
		for _, l := range list {
			out = append(out, l.most)
		}
		return out
	}
	if got := most(run(math.MaxInt)["t"]); slices.Max(got) < 9 {
		t.Errorf("with a limit without effect: %v calls at a time", got)
	}
	for limit := 1; limit < 4; limit++ {
		of := run(limit)
		if got := most(of["t"]); slices.Max(got) != limit {
			t.Errorf("limit %d: %v calls at a time", limit, got)
		}
		if got := most(of["u"]); slices.Max(got) < 9 {
			t.Errorf("limit %d: %v calls of the other provider at a time", limit, got)
		}
		for i, l := range of["u"] {
			if len(l.times) < 30 || limit > 1 {
				continue // nothing is planned, or both take about as long
			}
			last := slices.MaxFunc(l.times, time.Time.Compare)
			before := 0
			for _, x := range of["t"][i].times {
				if x.Before(last) {
					before++
				}
			}
			if before*2 > len(of["t"][i].times) {
				t.Errorf("limit %d, operation %d: the other provider has waited for %d of %d calls", limit, i, before, len(of["t"][i].times))
			}
		}
	}
}
