package planning_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/planning"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/providertest"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/session"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// TestImport imports the object "z" at an address, by command: the state has it then, and the
// outputs with their new values.
func TestImport(t *testing.T) {
	t.Parallel()
	const config = `
resource "t_x" "a" { name = "z" }
resource "t_x" "n" {
  count = 2
  name  = "z"
}
resource "t_x" "e" {
  for_each = { k = "z" }
  name     = each.value
}
output "a" { value = t_x.a.name }
output "gone" { value = null }
output "n" { value = length(t_x.n) }
`
	for _, c := range []struct {
		config, addr, want string
		managed            bool // the state has t_x.a already
	}{
		{config, "t_x.a", "t_x.a a n", false},
		{config, "t_x.n[0]", "t_x.n[0] a n", false},
		{config, "t_x.n[1]", "t_x.n[1] a n", false},
		{config, `t_x.e["k"]`, `t_x.e["k"] a n`, false},
		{config, "t_x.n[2]", "Configuration for import target does not exist", false},
		{config, "t_x.n", "Configuration for import target does not exist", false},
		{config, "t_x.a[0]", "Configuration for import target does not exist", false},
		{config, `t_x.e["l"]`, "Configuration for import target does not exist", false},
		{config, "module.m.t_x.a", "does not exist", false},
		{config, "t_x.other", "does not exist", false},
		{"resource \"t_x\" \"a\" { name = \"z\" }\nlocals {\n  unused = length(1)\n}\n", "t_x.a", "Error in function call", false},
		{config, "t_x.a", "Resource already managed by Lockstep", true},
		{config, "t_x.n[0]", "t_x.a t_x.n[0] a n", true},
	} {
		fake := providertest.New(t, described)
		fake.Edit("t_x", "z", map[string]cty.Value{"name": cty.StringVal("z")})
		cfg, ds := loading.Load(loading.Input{Tree: source.Files(map[string][]byte{"main.tf": []byte(c.config)})})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		rs, ds := refs.Analyze(cfg)
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		pool := provider.NewPool(map[addrs.Provider]provider.Factory{addrs.DefaultProvider("t"): fake.Start})
		defer pool.Close()
		before := states.Empty().Edit()
		if c.managed {
			before.SetObject(addrs.ResourceInstanceObject{Instance: addrs.AbsResource{Resource: addrs.Resource{Mode: addrs.Managed, Type: "t_x", Name: "a"}}.Instance(addrs.NoKey)},
				addrs.AbsProviderConfig{Provider: addrs.DefaultProvider("t")}, &states.Object{SchemaVersion: 1, Status: states.Ready, AttrsJSON: []byte(`{"id":"z","name":"z"}`), Private: []byte("private of z")})
		}
		before.SetOutput("gone", states.Output{Value: cty.StringVal("x")})
		addr, err := addrs.ParseAbsResourceInstance(c.addr)
		if err != nil {
			t.Fatal(err)
		}
		st, ds := planning.Import(t.Context(), planning.Input{
			Environment: session.Environment{Program: eval.Program{Config: cfg, Refs: rs, Functions: functions}, Providers: pool},
			State:       before.State(), Mode: plans.NormalMode,
		}, addr, "z")
		var got []string
		if ds.HasErrors() {
			got = append(got, ds[0].Summary)
		} else {
			for o := range st.Resources() {
				for k := range st.Resource(o).Instances {
					got = append(got, o.Instance(k).String())
				}
			}
			slices.Sort(got) // a state has its resources in no order
			got = append(got, slices.Sorted(maps.Keys(maps.Collect(st.Outputs())))...)
		}
		if text := strings.Join(got, " "); ds.HasErrors() && !strings.Contains(text, c.want) || !ds.HasErrors() && text != c.want {
			t.Errorf("%s: %s, want %s (%v)", c.addr, text, c.want, ds)
		}
	}
}
