package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/builtin"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// slow are evaluations that take hours, within the budget of a command line.
var slow = map[string]struct{ text, place string }{
	"loops": {large + `locals {
  x = [for a in local.large : a if length([for b in local.large : b if length([for c in local.large : c if c < 0]) > 0]) > 0]
}`, "local.x at main.tf:7"},
	"loops in a template": {large + "locals {\n  x = \"%{ for a in local.large }%{ for b in local.large }%{ for c in local.large }%{ endfor }%{ endfor }%{ endfor }\"\n}", "local.x at main.tf:7"},
	"behind try":          {large + "locals {\n  x = try([for a in local.large : [for b in local.large : [for c in local.large : c if c < 0] if b < 0]], 1)\n}", "local.x at main.tf:7"},
	"a resource": {large + `resource "terraform_data" "r" {
  count = 2
  input = [for a in local.large : a if length([for b in local.large : b if length([for c in local.large : c if c < 0]) > 0]) > 0]
}`, "terraform_data.r"},
}

// What ends the context ends the evaluation, and the budget knows what was being evaluated.
func TestInterruptedEvaluation(t *testing.T) {
	for name, c := range slow {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			b := budget.Generous()
			var ds diags.Diagnostics
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				ds = planWith(ctx, t, c.text, b)
			}()
			for !strings.HasPrefix(b.Place(), c.place) {
				select {
				case <-ended:
					t.Fatalf("it was over before it was at %q: %v", c.place, ds)
				case <-time.After(time.Millisecond):
				}
			}
			cancel(errors.New("interrupted"))
			select {
			case <-ended:
			case <-time.After(10 * time.Second):
				t.Fatal("it goes on")
			}
			told := 0
			for _, d := range ds {
				if d.Summary == "Evaluation was interrupted" {
					told++
				}
			}
			if told > 1 || !ds.HasErrors() {
				t.Errorf("the interruption is told %d times: %v", told, ds)
			}
			if p := b.Place(); p != "" {
				t.Errorf("%q is being evaluated for ever", p)
			}
		})
	}
}

// planWith plans a configuration of one file.
func planWith(ctx context.Context, t *testing.T, text string, b *budget.Budget) diags.Diagnostics {
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(map[string][]byte{"main.tf": []byte(text)}), Budget: b})
	if ds.HasErrors() {
		return ds
	}
	pool := provider.NewPool(map[addrs.Provider]provider.Factory{
		addrs.BuiltinTerraform: func(context.Context, *schema.Provider) (provider.Client, error) { return builtin.New(nil), nil },
	})
	defer pool.Close()
	_, ds = engine.Plan(ctx, engine.Run{Config: cfg, Providers: pool, WorkingDir: t.TempDir(), Budget: b}, states.Empty(), engine.PlanOptions{})
	return ds
}
