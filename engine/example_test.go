package engine_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/builtin"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A configuration is loaded from files, planned against a state, and applied. The result is the next
// state; storing it is the caller's business. terraform_data needs no plugin: other providers
// are processes, which package install finds and package process starts.
func Example() {
	ctx := context.Background()
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(map[string][]byte{"main.tf": []byte(`
resource "terraform_data" "greeting" {
  input = "hello"
}
output "greeting" { value = terraform_data.greeting.output }
`)})})
	if ds.HasErrors() {
		log.Fatal(ds)
	}
	providers := provider.NewPool(map[addrs.Provider]provider.Factory{
		addrs.BuiltinTerraform: func(context.Context, *schema.Provider) (provider.Client, error) { return builtin.New(nil), nil },
	})
	defer providers.Close()
	run := engine.Run{Config: cfg, Providers: providers, Analysis: new(engine.Analysis)}

	plan, ds := engine.Plan(ctx, run, states.Empty(), engine.PlanOptions{})
	if ds.HasErrors() {
		log.Fatal(ds)
	}
	for _, c := range plan.Changes {
		fmt.Println(c.Action, c.Addr)
	}
	done, ds := engine.Apply(ctx, run, plan, engine.ApplyOptions{})
	if ds.HasErrors() {
		log.Fatal(ds)
	}
	greeting, _ := done.State.Output("greeting")
	fmt.Println(greeting.Value.AsString())

	// Output:
	// create terraform_data.greeting
	// hello
}
