package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/blastradius"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// TestBlastRadiusOfAConfiguration holds that dependencies lead through local values, modules, data sources and
// depends_on, and that a plan of targets does not hide objects outside of them.
func TestBlastRadiusOfAConfiguration(t *testing.T) {
	t.Parallel()
	const config = `resource "lab_thing" "root" {
  name = "%s"
}
locals {
  id = lab_thing.root.id
}
module "m" {
  source = "./m"
  id     = local.id
}
data "lab_zone" "z" {
  name       = "z"
  depends_on = [module.m]
}
resource "lab_thing" "after" {
  count      = 2
  name       = "after"
  depends_on = [module.m]
}
resource "lab_thing" "behind" {
  name       = "behind"
  depends_on = [lab_thing.after]
}
resource "lab_thing" "alone" {
  name = "alone"
}
`
	const want = "3: lab_thing.after=2/no-op lab_thing.behind=1/no-op lab_thing.root=1/replace module.m.lab_thing.in=1/update, lab_thing.after>lab_thing.behind lab_thing.root>module.m.lab_thing.in module.m.lab_thing.in>lab_thing.after"
	s := (&scenario{providers: map[string]string{"lab": causesLab + "data lab_zone\n  name string required\n"}}).stage(t)
	s.inMemory = true
	s.files = map[string][]byte{"main.tf": fmt.Appendf(nil, config, "a"), "m/main.tf": []byte("variable \"id\" {}\nresource \"lab_thing\" \"in\" {\n  name  = \"in\"\n  color = var.id\n}\n")}
	if first := s.run(&order{verb: "apply"}); !first.applied {
		t.Fatal(first)
	}
	s.files["main.tf"] = fmt.Appendf(nil, config, "b")
	target, _ := addrs.ParseTarget("lab_thing.root")
	for name, options := range map[string]engine.PlanOptions{"all": {}, "a target": {Targets: []addrs.Target{target}}} {
		p, ds := s.plan(t.Context(), &order{verb: "plan", options: options})
		s.fatal(ds)
		want := want
		if options.Targets != nil {
			want = strings.Replace(strings.Replace(want, "3:", "4:", 1), "1/update", "1/no-op", 1)
		}
		if got := shownRadius(p); got != want {
			t.Errorf("%s: %s\nwant %s", name, got, want)
		}
	}
}

func shownRadius(p *plans.Plan) string {
	r := blastradius.Of(p)
	var nodes, edges []string
	for _, n := range r.Nodes {
		nodes = append(nodes, fmt.Sprintf("%s=%d/%s", n.Resource, n.Objects, n.Action))
	}
	for _, e := range r.Reduced() {
		edges = append(edges, fmt.Sprintf("%s>%s", r.Nodes[e[0]].Resource, r.Nodes[e[1]].Resource))
	}
	return fmt.Sprintf("%d: %s, %s", r.Objects, strings.Join(nodes, " "), strings.Join(edges, " "))
}
