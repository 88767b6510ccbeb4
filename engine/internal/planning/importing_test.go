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
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/planning"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/providertest"
	"github.com/lockstep-iac/lockstep/engine/refs"
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
module "m" {
  source = "./m"
  count  = 1
}
output "a" { value = t_x.a.name }
output "gone" { value = null }
output "n" { value = length(t_x.n) }
`
	const data = `
data "t_x" "d" { name = "d" }
provider "t" {
  alias  = "after"
  region = data.t_x.d.color
}
resource "t_x" "a" {
  provider = t.after
  name     = "z"
}
output "o" { value = data.t_x.d.color }
output "p" { value = data.t_x.d.name }
`
	const missing = "Configuration for import target does not exist"
	for _, c := range []struct {
		config, addr, want string
		managed            bool   // the state has t_x.a already
		on                 string // a rule for the provider
	}{
		{config, "t_x.a", "t_x.a a n", false, ""},
		{config, "t_x.n[0]", "t_x.n[0] a n", false, ""},
		{config, "t_x.n[1]", "t_x.n[1] a n", false, ""},
		{config, `t_x.e["k"]`, `t_x.e["k"] a n`, false, ""},
		{config, "module.m[0].t_x.i", "module.m[0].t_x.i a n", false, ""},
		{config, "t_x.n[2]", missing, false, ""},
		{config, "t_x.n", missing, false, ""},
		{config, "t_x.a[0]", missing, false, ""},
		{config, `t_x.e["l"]`, missing, false, ""},
		{config, "module.m.t_x.i", missing, false, ""},
		{config, "module.m[1].t_x.i", missing, false, ""},
		{config, "module.m[0].t_x.i[0]", missing, false, ""},
		{config, "module.x.t_x.a", "Resource address does not exist in the configuration", false, ""},
		{config, "t_x.other", "Resource address does not exist in the configuration", false, ""},
		{config, "data.t_x.d", "Resource address does not exist in the configuration", false, ""},
		{`data "t_x" "d" { name = "z" }`, "data.t_x.d", "Resource address does not exist in the configuration", false, ""},
		{"resource \"t_x\" \"a\" { name = \"z\" }\nlocals {\n  unused = length(1)\n}\n", "t_x.a", "Error in function call", false, ""},
		{config, "t_x.a", "Resource already managed by Lockstep", true, ""},
		{config, "t_x.n[0]", "t_x.a t_x.n[0] a n", true, ""},
		{config, "t_x.a", "Asked to fail", false, `import t_x.z fail "no"`},
		{config, "t_x.a", "Cannot import non-existent remote object", false, `import t_x.z gone`},
		{config, "t_x.a", "Asked to fail", false, `configure fail "no"`},
		{config, "t_x.a", "t_x.a a n; Imported object left out", false, "import t_x.z twice"},
		{"resource \"t_x\" \"a\" { name = \"z\" }\noutput \"o\" { value = length(1) }", "t_x.a", "Error in function call", false, ""},
		{"resource \"t_x\" \"a\" { name = \"z\" }\noutput \"o\" {\n  value = 1\n  ephemeral = true\n}", "t_x.a", "Ephemeral output not allowed", false, ""},
		{`resource "t_none" "a" {}`, "t_none.a", "Invalid resource type", false, ""},
		{"resource \"t_x\" \"a\" {\n  count = length(1)\n  name = \"z\"\n}", "t_x.a[0]", "Error in function call", false, ""},
		// The value of t_x.a that is imported is in the outputs; that of t_x.b is not known, and recorded as null.
		{"resource \"t_x\" \"a\" { name = \"z\" }\nresource \"t_x\" \"b\" { name = \"b\" }\noutput \"b\" { value = t_x.b.id }\noutput \"c\" {\n  value = t_x.a.id\n  sensitive = true\n}", "t_x.a", "t_x.a b c gone", false, ""},
		// A provider configuration that depends on data, which are read once for all that refers to them.
		{data, "t_x.a", "data.t_x.d t_x.a gone o p", false, ""},
		{data, "t_x.a", "Asked to fail", false, `data t_x.d fail "no"`},
		{data, "t_x.a", "data.t_x.d t_x.a gone o p; Asked to warn", false, `data t_x.d warn "old"`},
	} {
		got := imported(t, c.config, c.addr, c.on, c.managed)
		if got != c.want {
			t.Errorf("%s %s: %s, want %s", c.addr, c.on, got, c.want)
		}
	}
}

// input returns the input for a configuration, and the provider of it.
func input(t *testing.T, config string, st *states.State) (planning.Input, *providertest.Provider) {
	t.Helper()
	fake := providertest.New(t, described)
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(map[string][]byte{"main.tf": []byte(config), "m/main.tf": []byte(`resource "t_x" "i" { name = "z" }`)})})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	rs, ds := refs.Analyze(cfg)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	pool := provider.NewPool(map[addrs.Provider]provider.Factory{addrs.DefaultProvider("t"): fake.Start})
	t.Cleanup(func() { pool.Close() })
	return planning.Input{
		Environment: session.Environment{Program: eval.Program{Config: cfg, Refs: rs, Functions: functions}, Providers: pool},
		State:       st, Mode: plans.NormalMode,
	}, fake
}

// imported returns the addresses and outputs of the state after an import, and the warnings about it;
// or its first error.
func imported(t *testing.T, config, addr, on string, managed bool) string {
	t.Helper()
	before := states.Empty().Edit()
	if managed {
		setA(before, "z")
	}
	before.SetOutput("gone", states.Output{Value: cty.StringVal("x")})
	a, err := addrs.ParseAbsResourceInstance(addr)
	if err != nil {
		t.Fatal(err)
	}
	in, fake := input(t, config, before.State())
	fake.Edit("t_x", "z", map[string]cty.Value{"name": cty.StringVal("z")})
	if on != "" {
		fake.On(on)
	}
	st, ds := planning.Import(t.Context(), in, a, "z")
	for _, d := range ds {
		if d.Severity == diags.Error {
			return d.Summary
		}
	}
	var got []string
	for o := range st.Resources() {
		for k := range st.Resource(o).Instances {
			got = append(got, o.Instance(k).String())
		}
	}
	slices.Sort(got) // a state has its resources in no order
	got = append(got, slices.Sorted(maps.Keys(maps.Collect(st.Outputs())))...)
	text := strings.Join(got, " ")
	for _, d := range ds {
		text += "; " + d.Summary
	}
	if n := len(fake.Calls()); strings.Contains(config, "data.t_x.d") && n > 6 {
		t.Errorf("%s: the data source is read more than once: %v", addr, fake.Calls())
	}
	return text
}

// setA puts the object t_x.a with an ID into a state.
func setA(st *states.Editor, id string) {
	st.SetObject(addrs.ResourceInstanceObject{Instance: addrs.AbsResource{Resource: addrs.Resource{Mode: addrs.Managed, Type: "t_x", Name: "a"}}.Instance(addrs.NoKey)},
		addrs.AbsProviderConfig{Provider: addrs.DefaultProvider("t")}, &states.Object{SchemaVersion: 1, Status: states.Ready, AttrsJSON: []byte(`{"id":"` + id + `","name":"` + id + `"}`), Private: []byte("private of " + id)})
}
