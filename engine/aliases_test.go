package engine_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/providertest"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A process can be configured once, so that every alias in use needs its own. Validation needs one
// process for all of them, and an alias that nothing uses needs none.
func TestProcessesOfAliases(t *testing.T) {
	const text = `
provider "t" {}
provider "t" { alias = "one" }
provider "t" { alias = "two" }
provider "t" { alias = "three" }
resource "t_x" "a" { name = "a" }
resource "t_x" "b" {
  provider = t.one
  name     = "b"
}
`
	fake := providertest.New(t, "provider\n  region string optional\nresource t_x\n  id string computed keep\n  name string required\n")
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(map[string][]byte{"main.tf": []byte(text)})})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	for _, c := range []struct {
		deed string
		want int32
	}{{"validate", 1}, {"plan", 2}} {
		var started atomic.Int32
		pool := provider.NewPool(map[addrs.Provider]provider.Factory{addrs.DefaultProvider("t"): func(ctx context.Context, s *schema.Provider) (provider.Client, error) {
			started.Add(1)
			return fake.Start(ctx, s)
		}})
		run := engine.Run{Config: cfg, Providers: pool, WorkingDir: t.TempDir()}
		if c.deed == "validate" {
			ds = engine.Validate(t.Context(), run)
		} else {
			_, ds = engine.Plan(t.Context(), run, states.Empty(), engine.PlanOptions{})
		}
		pool.Close()
		if ds.HasErrors() || started.Load() != c.want {
			t.Errorf("%s: %d processes, want %d, %v", c.deed, started.Load(), c.want, ds)
		}
	}
}
