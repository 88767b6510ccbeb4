package dependencies

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/refs"
)

// analyze reads a configuration: a txtar archive whose comment is main.tf.
func analyze(t testing.TB, text string) (*config.Config, *refs.Refs) {
	t.Helper()
	a := txtar.Parse([]byte(text))
	files := map[string][]byte{"main.tf": a.Comment}
	for _, f := range a.Files {
		files[f.Name] = f.Data
	}
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(files)})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	rs, ds := refs.Analyze(cfg)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return cfg, rs
}

func resource(t testing.TB, s string) addrs.ConfigResource {
	t.Helper()
	cr, err := addrs.ParseConfigResource(s)
	if err != nil {
		t.Fatal(err)
	}
	return cr
}

func names(list []addrs.ConfigResource) string {
	var out []string
	for _, cr := range list {
		out = append(out, cr.String())
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

const chain = `
provider "t" {
  token = data.u_x.token.id
}
data "u_x" "token" {
  name = u_x.first.id
}
resource "u_x" "first" {}
resource "t_x" "a" {}
resource "t_x" "b" {
  name = local.a
  lifecycle {
    create_before_destroy = true
  }
}
locals {
  a = t_x.a.id
}
module "m" {
  source = "./m"
  in     = t_x.b.id
}
resource "t_x" "z" { name = module.m.out }
resource "t_x" "alone" { provider = t.plain }
provider "t" {
  alias = "plain"
}
-- m/main.tf --
variable "in" {}
resource "t_x" "c" { name = var.in }
output "out" { value = t_x.c.id }
`

// TestDependencies tells direct dependencies from those that are stored: both look
// through provider configurations.
func TestDependencies(t *testing.T) {
	t.Parallel()
	cfg, rs := analyze(t, chain)
	d := New(cfg, rs)
	for name, want := range map[string][2]string{
		"u_x.first":      {"", ""},
		"data.u_x.token": {"u_x.first", "u_x.first"},
		"t_x.a":          {"data.u_x.token", "data.u_x.token u_x.first"},
		"t_x.b":          {"data.u_x.token t_x.a", "data.u_x.token t_x.a u_x.first"},
		"module.m.t_x.c": {"data.u_x.token t_x.b", "data.u_x.token t_x.a t_x.b u_x.first"},
		"t_x.z":          {"data.u_x.token module.m.t_x.c", "data.u_x.token module.m.t_x.c t_x.a t_x.b u_x.first"},
		"t_x.alone":      {"", ""},
	} {
		cr := resource(t, name)
		got := [2]string{names(d.Direct(cr)), names(d.Stored(cr).All())}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// TestCreateBeforeDestroyIsForced: what b needs must be there before the old b goes,
// what needs b need not.
func TestCreateBeforeDestroyIsForced(t *testing.T) {
	t.Parallel()
	cfg, rs := analyze(t, chain)
	var got []addrs.ConfigResource
	for cr := range New(cfg, rs).CreateBeforeDestroy(func(addrs.ConfigResource) bool { return true }) {
		if cr.Resource.Mode == addrs.Managed {
			got = append(got, cr)
		}
	}
	if diff := cmp.Diff("t_x.a t_x.b u_x.first", names(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestFill finds the nearest changes that a change depends on.
func TestFill(t *testing.T) {
	t.Parallel()
	cfg, rs := analyze(t, chain)
	provider := addrs.AbsProviderConfig{Provider: addrs.DefaultProvider("t")}
	for _, c := range []struct {
		name    string
		changes []string // action and address
		want    map[string]string
	}{
		{"everything changes", []string{"~u_x.first", "rdata.u_x.token", "~t_x.a", "~t_x.b", "~module.m.t_x.c", "~t_x.z"}, map[string]string{
			"data.u_x.token": "u_x.first", "t_x.a": "data.u_x.token", "t_x.b": "data.u_x.token t_x.a",
			"t_x.z": "data.u_x.token module.m.t_x.c",
		}},
		{"data that was read already is looked through", []string{"~u_x.first", "~t_x.a", "~t_x.b"}, map[string]string{
			"t_x.a": "u_x.first", "t_x.b": "t_x.a u_x.first",
		}},
		{"and so is what has no instances", []string{"0t_x.a", "~t_x.z"}, map[string]string{
			"t_x.z": "t_x.a",
		}},
		{"behind a resource that only loses instances, there may be more", []string{"~u_x.first", "~t_x.a", "dt_x.b", "~module.m.t_x.c"}, map[string]string{
			"module.m.t_x.c": "t_x.a t_x.b u_x.first",
		}},
		{"without a block there is the provider", []string{"~u_x.first", "dt_x.gone"}, map[string]string{
			"t_x.gone": "u_x.first",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var changes []*plans.ResourceChange
			for _, text := range c.changes {
				cr := resource(t, text[1:])
				at := addrs.AbsResourceInstance{Resource: addrs.ResourceInstance{Resource: cr.Resource}}
				if !cr.Module.IsRoot() {
					at.Module, _ = addrs.ParseModuleInstance(cr.Module.String())
				}
				changes = append(changes, &plans.ResourceChange{
					Addr: addrs.ResourceInstanceObject{Instance: at}, Provider: provider,
					Change: plans.Change{Action: plans.Action(text[0])},
				})
			}
			New(cfg, rs).Fill(changes)
			for _, ch := range changes {
				name := ch.Addr.Instance.Config().String()
				if want, ok := c.want[name]; ok && want != names(ch.ConfigDeps) {
					t.Errorf("%s depends on %q, want %q", name, names(ch.ConfigDeps), want)
				}
			}
		})
	}
}
