package refs

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCycles wants the path of each circle to be shown.
func TestCycles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, files, want string }{
		{"two resources", `
resource "t_x" "a" { name = t_x.b.id }
resource "t_x" "b" { name = t_x.a.id }
`, "t_x.a -> t_x.b -> t_x.a"},
		{"through values and depends_on", `
locals {
  l = t_x.b.id
}
resource "t_x" "a" { name = local.l }
resource "t_x" "b" { depends_on = [t_x.a] }
`, "local.l -> t_x.b -> t_x.a -> local.l"},
		{"one local", `
locals {
  l = [local.l]
}
`, "local.l -> local.l"},
		{"through the outputs of two modules", `
module "m" {
  source = "./m"
  in     = module.n.out
}
module "n" {
  source = "./m"
  in     = module.m.out
}
-- m/main.tf --
variable "in" {}
output "out" { value = var.in }
`, "module.m.var.in -> module.n.output.out -> module.n.var.in -> module.m.output.out -> module.m.var.in"},
		{"a module that depends on what depends on it", `
module "m" {
  source     = "./m"
  depends_on = [t_x.a]
}
resource "t_x" "a" { name = module.m.out }
-- m/main.tf --
output "out" { value = 1 }
`, "module.m -> t_x.a -> module.m.output.out -> module.m"},
		{"a provider that needs its own resource", `
provider "t" {
  token = t_x.a.id
}
resource "t_x" "a" {}
`, "provider.t -> t_x.a -> provider.t"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, ds := Analyze(load(t, c.files))
			if len(ds) != 1 || !strings.HasPrefix(ds[0].Summary, "Cycle: ") && ds[0].Summary != "Self-referencing local value" {
				t.Fatalf("diagnostics: %v", ds)
			}
			if got := turned(ds[0].Detail, c.want); got != c.want {
				t.Errorf("got  %s\nwant %s\nin   %s", got, c.want, ds[0].Detail)
			}
		})
	}
}

// turned returns the circle in a message as it is seen from want's first member.
func turned(detail, want string) string {
	_, circle, _ := strings.Cut(detail, ": ")
	circle, _, _ = strings.Cut(circle, ". Break")
	names := strings.Split(circle, " -> ")
	names = names[:len(names)-1]
	first, _, _ := strings.Cut(want, " -> ")
	if i := slices.Index(names, first); i > 0 {
		names = slices.Concat(names[i:], names[:i])
	}
	return strings.Join(append(names, names[0]), " -> ")
}

// TestMistakes wants what is mentioned and not there to be reported at its place.
func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, files, want string }{
		{"undeclared", `
locals {
  all = [var.name, local.nothing, t_x.a, data.t_x.a, ephemeral.t_x.a, module.m]
}
variable "nane" {}
`, `
main.tf:3: Reference to undeclared input variable: Did you mean "nane"?
main.tf:3: Reference to undeclared local value
main.tf:3: Reference to undeclared module
main.tf:3: Reference to undeclared resource
main.tf:3: Reference to undeclared resource
main.tf:3: Reference to undeclared resource
`},
		{"names that are no names", `
locals {
  a = var
  b = var["x"]
  c = data.t_x
  d = path.nothing
  e = terraform.nothing
}
`, `
main.tf:3: Invalid reference
main.tf:4: Invalid reference
main.tf:5: Invalid reference
main.tf:6: Invalid "path" attribute
main.tf:7: Invalid "terraform" attribute
`},
		{"a data source in place of a resource", `
data "t_x" "a" {}
locals {
  a = t_x.a.id
}
`, `
main.tf:4: Reference to undeclared resource: Did you mean the data resource data.t_x.a?
`},
		{"an output that a module does not have, beside other mistakes", `
module "m" {
  source = "./m"
}
locals {
  a = module.m.colour
  b = module.m[0].colour
  c = local.none
}
-- m/main.tf --
output "color" { value = 1 }
`, `
main.tf:6: Unsupported attribute: Did you mean "color"?
main.tf:7: Unsupported attribute: Did you mean "color"?
main.tf:8: Reference to undeclared local value
`},
		{"count, each and self out of place", `
resource "t_x" "a" {
  name = each.key
}
resource "t_x" "b" {
  for_each = {}
  name     = count.index
}
resource "t_x" "c" {
  count = 1
  block {
    name = [count.index, self.id, each.value]
  }
  provisioner "local-exec" {
    command = "${self.id} ${each.key}"
  }
}
provider "t" {
  token = count.index
}
`, `
main.tf:12: Invalid "self" reference
main.tf:12: each.value cannot be used in this context
main.tf:15: Reference to "each" in context without for_each
main.tf:19: Reference to "count" in non-counted context
main.tf:3: Reference to "each" in context without for_each
main.tf:7: Reference to "count" in non-counted context
`},
		{"the same directory twice is reported once", `
module "m" {
  source = "./m"
}
module "n" {
  source = "./m"
}
-- m/main.tf --
locals {
  a = var.nothing
}
`, `
m/main.tf:2: Reference to undeclared input variable
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, ds := Analyze(load(t, c.files))
			var got []string
			for _, d := range ds {
				line, _, _ := strings.Cut(d.String(), ": "+d.Detail)
				if _, hint, ok := strings.Cut(d.Detail, "Did you mean"); ok {
					hint, _, _ = strings.Cut(hint, "?")
					line += ": Did you mean" + hint + "?"
				}
				got = append(got, line)
			}
			slices.Sort(got)
			if diff := cmp.Diff(strings.TrimSpace(c.want), strings.Join(got, "\n")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// What Terraform 1.11.4 points at: what is mentioned, without what is asked of it.
func TestWhereMistakesAre(t *testing.T) {
	t.Parallel()
	const files = `-- main.tf --
module "m" {
  source = "./m"
}
resource "t_x" "counted" {
  count = 1
}
resource "t_x" "single" {
  a = each.value.x
  b = self.x
}
locals {
  a = var.nope.x.y
  b = local.nope.x.y
  c = module.nope.x.y
  d = module.nope[0].x.y
  e = t_x.nope[0].id.x
  f = data.t_x.nope[0].id.x
  g = t_x.counted.id.x
  h = t_x.single["a"].id
  i = path.nope.x
  l = module.m.nope.x
  m = [for x in [1] : count.nope.x]
}
-- m/main.tf --
`
	want := []string{
		"var.nope", "local.nope", "module.nope.x", "module.nope[0].x", "t_x.nope[0]", "data.t_x.nope[0]", "t_x.counted", `t_x.single["a"]`,
		"path.nope", "each.value", "self", ".nope", "count.nope",
	}
	_, ds := Analyze(load(t, files))
	main, _, _ := strings.Cut(strings.TrimPrefix(files, "-- main.tf --\n"), "-- m/")
	var got []string
	for _, d := range ds {
		if text := main[d.Subject.Start.Byte:d.Subject.End.Byte]; !slices.Contains(got, text) {
			got = append(got, text)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
