package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// TestActionMessages: a provider may repeat in a message what it was given. If any of that is sensitive or ephemeral, its
// messages are kept back.
func TestActionMessages(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct{ config, want string }{
		"plain":                       {`note = "n"`, "hush"},
		"a sensitive value":           {`note = sensitive("hush")`, "(message suppressed due to sensitive value in config)"},
		"sensitive by its schema":     {`secret = "hush"`, "(message suppressed due to sensitive value in config)"},
		"sensitive from the caller":   {`note = caller.secret`, "(message suppressed due to sensitive value in config)"},
		"ephemeral in its write-only": {`token = ephemeral.lab_token.t.token`, "(message suppressed due to ephemeral value in config)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := &scenario{providers: map[string]string{"lab": `
resource lab_thing
  id     string computed keep
  name   string required
  secret string optional sensitive
action lab_notify
  name   string required
  note   string optional
  secret string optional sensitive
  token  string optional writeonly
ephemeral lab_token
  name   string required
  token  string computed
on invoke lab_notify says "hush"
`}}
			s := sc.stage(t)
			cfg, ds := loading.Load(loading.Input{Tree: source.Files(map[string][]byte{"main.tf": []byte(`
ephemeral "lab_token" "t" {
  name = "t"
}
action "lab_notify" "n" {
  config {
    name = "n"
    ` + x.config + `
  }
}
resource "lab_thing" "a" {
  name   = "a"
  secret = "hush"
  lifecycle {
    action_trigger {
      events  = [after_create]
      actions = [action.lab_notify.n]
    }
  }
}
`)})})
			if ds.HasErrors() {
				t.Fatal(ds)
			}
			pool := provider.NewPool(s.factories(language.Newest))
			defer pool.Close()
			var told []string
			r := engine.Run{Config: cfg, Providers: pool, WorkingDir: "/work", Events: func(e events.Event) {
				if e.Kind == events.InvokeProgress {
					told = append(told, e.Text)
				}
			}}
			plan, ds := engine.Plan(t.Context(), r, states.Empty(), engine.PlanOptions{})
			if ds.HasErrors() {
				t.Fatal(ds)
			}
			again := provider.NewPool(s.factories(language.Newest))
			defer again.Close()
			r.Providers = again
			if _, ds = engine.Apply(t.Context(), r, plan, engine.ApplyOptions{}); ds.HasErrors() {
				t.Fatal(ds)
			}
			if got := strings.Join(told, ","); got != x.want {
				t.Errorf("told %q, want %q", got, x.want)
			}
			if calls := s.fakes["lab"].Calls(); !slices.Contains(calls, "invoke lab_notify.n") {
				t.Errorf("it was not invoked: %s", calls)
			}
		})
	}
}
