package engine_test

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine"
)

// TestDriftOfSecrets holds that values of attributes which the provider's schema says are sensitive are marked in the drift of a
// plan, so that no pull request proposes them.
func TestDriftOfSecrets(t *testing.T) {
	t.Parallel()
	s := (&scenario{providers: map[string]string{"lab": `
resource lab_thing
  id       string computed keep
  password string optional sensitive
`}}).stage(t)
	s.inMemory = true
	s.files["main.tf"] = []byte(`resource "lab_thing" "a" { password = "first" }`)
	r, pool, ds := s.open(&order{})
	defer pool.Close()
	s.fatal(ds)
	plan, ds := engine.Plan(t.Context(), r, s.state, engine.PlanOptions{})
	s.fatal(ds)
	r, pool1, ds := s.open(&order{})
	defer pool1.Close()
	s.fatal(ds)
	done, ds := engine.Apply(t.Context(), r, plan, engine.ApplyOptions{})
	s.fatal(ds)
	s.state = s.stored(done.State)
	s.fakes["lab"].Edit("lab_thing", "-1", map[string]cty.Value{"password": cty.StringVal("hush")})
	r, pool2, ds := s.open(&order{})
	defer pool2.Close()
	s.fatal(ds)
	plan, ds = engine.Plan(t.Context(), r, s.state, engine.PlanOptions{})
	s.fatal(ds)
	if len(plan.Drift) != 1 {
		t.Fatalf("%d objects have drifted", len(plan.Drift))
	}
	c := plan.Drift[0]
	if before, after := c.Before.GetAttr("password"), c.After.GetAttr("password"); !before.IsMarked() || !after.IsMarked() {
		t.Errorf("not marked: %#v, %#v", before, after)
	}
}
