package refs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/refs"
)

// What is mentioned by literal keys alone is known through locals, variables and outputs;
// one mention of the whole is enough for the whole.
func TestOnlyInstances(t *testing.T) {
	t.Parallel()
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(map[string][]byte{"main.tf": []byte(`
resource "t" "a" { count = 3 }
resource "t" "e" { for_each = toset(["k"]) }
resource "t" "one" { in = [t.a[0].id, t.a[2].id, t.e["k"].id] }
resource "t" "both" { in = [t.a[0].id, t.a] }
resource "t" "computed" {
  count = 3
  in    = t.a[count.index].id
}
locals { first = t.a[0].id }
resource "t" "local" { in = local.first }
resource "t" "mixed" { in = [local.first, length(t.a)] }
module "m" {
  source = "./m"
  in     = t.a[1].id
}
resource "t" "after" { in = module.m.out }
`), "m/main.tf": []byte(`
variable "in" {}
resource "t" "in" {
  count = 2
  in    = var.in
}
output "out" { value = t.in[1].id }
`)})})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	rs, ds := refs.Analyze(cfg)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	got := map[string]string{}
	for _, m := range cfg.Order {
		for r := range m.Resources {
			o := addrs.Object{Module: m.Addr, Kind: addrs.KindResource, Res: r}
			var list []string
			for x, keys := range rs.OnlyInstances(o) {
				list = append(list, fmt.Sprint(x, keys))
			}
			if slices.Sort(list); list != nil {
				got[o.String()] = strings.Join(list, " ")
			}
		}
	}
	want := map[string]string{
		"t.one": `t.a [[0] [2]] t.e [["k"]]`, "t.local": "t.a [[0]]", "module.m.t.in": "t.a [[1]]", "t.after": "module.m.t.in [[1]]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
