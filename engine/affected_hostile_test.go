package engine_test

import (
	"fmt"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

const hostileLab = `
provider
  region string optional
  token  string optional
resource lab_thing
  id     string computed keep
  name   string optional
  color  string optional computed keep
  any    any optional
  serial number computed keep
data lab_info
  name  string optional
  value string computed
ephemeral lab_token
  account string optional
  value   string computed
`

// hostile applies a configuration twice, lets objects drift, and compares the plan of another configuration with the
// plan that reads everything.
type hostile struct {
	name          string
	before, after string
	drift         string // the address of an object that changes outside
	data          bool
}

func (c hostile) play(t *testing.T) {
	t.Helper()
	for _, settled := range []bool{false, true} {
		t.Run(fmt.Sprintf("%s/%v", c.name, settled), func(t *testing.T) {
			s := newAffecting(t, hostileLab)
			s.data = c.data
			s.applied(archive(c.before))
			if settled {
				s.applied(archive(c.before))
			}
			if c.drift != "" {
				ids := s.things(func(n string) bool { return n == c.drift })
				if len(ids) != 1 {
					t.Fatalf("%s has the objects %q", c.drift, ids)
				}
				s.fakes["lab"].Edit("lab_thing", ids[0], map[string]cty.Value{"color": cty.StringVal("drifted")})
			}
			clear(s.files)
			for name, text := range archive(c.after) {
				s.files[name] = []byte(text)
			}
			all, some := s.make(true, nil), s.make(false, nil)
			s.same(c.name, all, some)
			t.Logf("read %q of %q", some.read, all.read)
		})
	}
}

// TestAffectedHostile has changes that a plan with -refresh=affected must show as a full plan does.
func TestAffectedHostile(t *testing.T) {
	t.Parallel()
	for _, c := range []hostile{
		{name: "a new output of a drifted object", drift: "lab_thing.a",
			before: `resource "lab_thing" "a" {}`,
			after: `resource "lab_thing" "a" {}
output "o" { value = lab_thing.a.color }`},
		{name: "an output that exists and does not change", drift: "lab_thing.a",
			before: `resource "lab_thing" "a" {}
output "o" { value = lab_thing.a.id }`,
			after: `resource "lab_thing" "a" {}
output "o" { value = lab_thing.a.color }`},
		{name: "a dynamic value gets another type: list and tuple",
			before: `resource "lab_thing" "a" { any = ["x"] }`, after: `resource "lab_thing" "a" { any = tolist(["x"]) }`},
		{name: "a dynamic value gets another type: set",
			before: `resource "lab_thing" "a" { any = ["x"] }`, after: `resource "lab_thing" "a" { any = toset(["x"]) }`},
		{name: "a dynamic value gets another type: map",
			before: `resource "lab_thing" "a" { any = { x = "y" } }`, after: `resource "lab_thing" "a" { any = tomap({ x = "y" }) }`},
		{name: "a dynamic value gets another type: number",
			before: `resource "lab_thing" "a" { any = "1" }`, after: `resource "lab_thing" "a" { any = 1 }`},
		{name: "terraform_data: set",
			before: `resource "terraform_data" "a" { input = ["x"] }`, after: `resource "terraform_data" "a" { input = toset(["x"]) }`},
		{name: "terraform_data: map",
			before: `resource "terraform_data" "a" { input = { x = "y" } }`, after: `resource "terraform_data" "a" { input = tomap({ x = "y" }) }`},
		{name: "one instance directly, all through a local", drift: "lab_thing.n[0]",
			before: `resource "lab_thing" "n" { count = 2 }
locals { all = join(",", lab_thing.n[*].color) }
resource "lab_thing" "u" { name = lab_thing.n[1].id }`,
			after: `resource "lab_thing" "n" { count = 2 }
locals { all = join(",", lab_thing.n[*].color) }
resource "lab_thing" "u" {
  name  = lab_thing.n[1].id
  color = local.all
}`},
		{name: "one instance directly, another by data", drift: "lab_thing.n[0]",
			before: `resource "lab_thing" "n" { count = 2 }
data "lab_info" "i" { name = lab_thing.n[0].color }
resource "lab_thing" "u" { name = lab_thing.n[1].id }`,
			after: `resource "lab_thing" "n" { count = 2 }
data "lab_info" "i" { name = lab_thing.n[0].color }
resource "lab_thing" "u" {
  name  = lab_thing.n[1].id
  color = data.lab_info.i.value
}`},
		{name: "instances of a module that refer to each other", drift: `module.m["a"].lab_thing.x`,
			before: `module "m" {
  for_each = toset(["a", "b"])
  source = "./m"
  in = each.key == "b" ? module.m["a"].out : ""
}
-- m/main.tf --
variable "in" {}
resource "lab_thing" "x" {}
output "out" { value = lab_thing.x.color }
resource "lab_thing" "y" { name = "old" }
`,
			after: `module "m" {
  for_each = toset(["a", "b"])
  source = "./m"
  in = each.key == "b" ? module.m["a"].out : ""
}
-- m/main.tf --
variable "in" {}
resource "lab_thing" "x" {}
output "out" { value = lab_thing.x.color }
resource "lab_thing" "y" { name = var.in == "" ? "old" : "new${var.in}" }
`},
		{name: "count from a drifted object", drift: "lab_thing.a",
			before: `resource "lab_thing" "a" {
  color = "1"
  lifecycle { ignore_changes = [color] }
}
resource "lab_thing" "u" { count = lab_thing.a.color == "drifted" ? 2 : 1 }`,
			after: `resource "lab_thing" "a" {
  color = "1"
  lifecycle { ignore_changes = [color] }
}
resource "lab_thing" "u" {
  count = lab_thing.a.color == "drifted" ? 2 : 1
  name = "new"
}`},
		{name: "count of a module from a drifted object", drift: "lab_thing.a",
			before: `resource "lab_thing" "a" {
  color = "1"
  lifecycle { ignore_changes = [color] }
}
module "m" {
  source = "./m"
  count = lab_thing.a.color == "drifted" ? 2 : 1
}
-- m/main.tf --
resource "lab_thing" "y" { name = "old" }
`,
			after: `resource "lab_thing" "a" {
  color = "1"
  lifecycle { ignore_changes = [color] }
}
module "m" {
  source = "./m"
  count = lab_thing.a.color == "drifted" ? 2 : 1
}
-- m/main.tf --
resource "lab_thing" "y" { name = "new" }
`},
		{name: "a precondition that an object fulfils since it was mended outside", drift: "lab_thing.a",
			before: `resource "lab_thing" "a" { }
resource "lab_thing" "u" { name = "old" }`,
			after: `resource "lab_thing" "a" { }
resource "lab_thing" "u" {
  name = "new"
  lifecycle {
    precondition {
      condition = lab_thing.a.color == "drifted"
      error_message = "not mended"
    }
  }
}`},
		{name: "a count that is valid since an object was mended outside", drift: "lab_thing.a",
			before: `resource "lab_thing" "a" { }
resource "lab_thing" "u" { name = "old" }`,
			after: `resource "lab_thing" "a" { }
resource "lab_thing" "u" {
  count = lab_thing.a.color == "drifted" ? 2 : -1
}`},
		{name: "a new check block about a drifted object", drift: "lab_thing.a",
			before: `resource "lab_thing" "a" { }`,
			after: `resource "lab_thing" "a" { }
check "c" {
  assert {
    condition     = lab_thing.a.color != "drifted"
    error_message = "It has drifted."
  }
}`},
		{name: "a new postcondition about a drifted object", drift: "lab_thing.a",
			before: `resource "lab_thing" "a" { }`,
			after: `resource "lab_thing" "a" {
  lifecycle {
    postcondition {
      condition     = self.color != "drifted"
      error_message = "It has drifted."
    }
  }
}`},
		{name: "a new precondition of an output", drift: "lab_thing.a",
			before: `resource "lab_thing" "a" { }`,
			after: `resource "lab_thing" "a" {}
output "o" {
  value = 1
  precondition {
    condition     = lab_thing.a.color != "drifted"
    error_message = "It has drifted."
  }
}`},
		{name: "a new data source alone", drift: "lab_thing.a",
			before: `resource "lab_thing" "a" { }`,
			after: `resource "lab_thing" "a" {}
data "lab_info" "i" { name = lab_thing.a.color }`},
		{name: "the local value of a condition refers to a drifted object", drift: "lab_thing.a",
			before: `resource "lab_thing" "a" { }
locals { ok = true }
check "c" {
  assert {
    condition     = local.ok
    error_message = "It has drifted."
  }
}`,
			after: `resource "lab_thing" "a" { }
locals { ok = lab_thing.a.color != "drifted" }
check "c" {
  assert {
    condition     = local.ok
    error_message = "It has drifted."
  }
}`},
		{name: "the module of a condition refers to a drifted object", drift: "lab_thing.a",
			before: `resource "lab_thing" "a" { }
module "m" {
  source = "./m"
  in     = ""
}
-- m/main.tf --
variable "in" {}
output "out" {
  value = 1
  precondition {
    condition     = var.in != "drifted"
    error_message = "It has drifted."
  }
}
`,
			after: `resource "lab_thing" "a" { }
module "m" {
  source = "./m"
  in     = lab_thing.a.color
}
-- m/main.tf --
variable "in" {}
output "out" {
  value = 1
  precondition {
    condition     = var.in != "drifted"
    error_message = "It has drifted."
  }
}
`},
		{name: "a new data source gets the value of a drifted object", drift: "lab_thing.a",
			before: `resource "lab_thing" "a" { }`,
			after: `resource "lab_thing" "a" {}
data "lab_info" "i" { name = lab_thing.a.color }
output "o" { value = data.lab_info.i.value }`},
		{name: "replace_triggered_by a drifted object", drift: "lab_thing.a",
			before: `resource "lab_thing" "a" { color = "1" }
resource "lab_thing" "u" {
  name = "old"
  lifecycle { replace_triggered_by = [lab_thing.a] }
}`,
			after: `resource "lab_thing" "a" { color = "1" }
resource "lab_thing" "u" {
  name = "new"
  lifecycle { replace_triggered_by = [lab_thing.a] }
}`},
		{name: "a new trigger on a drifted object alone", drift: "lab_thing.a",
			before: `resource "lab_thing" "a" { color = "1" }
resource "lab_thing" "u" { name = "old" }`,
			after: `resource "lab_thing" "a" { color = "1" }
resource "lab_thing" "u" {
  name = "old"
  lifecycle { replace_triggered_by = [lab_thing.a] }
}`},
		{name: "an ephemeral resource for another account",
			before: `provider "lab" { token = ephemeral.lab_token.t.account }
provider "lab" { alias = "plain" }
ephemeral "lab_token" "t" {
  provider = lab.plain
  account = "dev"
}
resource "lab_thing" "a" {}`,
			after: `provider "lab" { token = ephemeral.lab_token.t.account }
provider "lab" { alias = "plain" }
ephemeral "lab_token" "t" {
  provider = lab.plain
  account = "prod"
}
resource "lab_thing" "a" {}`, drift: "lab_thing.a"},
		{name: "a data source that is not read, of a drifted object", drift: "lab_thing.a", data: true,
			before: `resource "lab_thing" "a" {}
data "lab_info" "i" { name = lab_thing.a.color }
resource "lab_thing" "u" { name = data.lab_info.i.value }`,
			after: `resource "lab_thing" "a" {}
data "lab_info" "i" { name = lab_thing.a.color }
resource "lab_thing" "u" {
  name  = data.lab_info.i.value
  color = "new"
}`},
		{name: "an object moves, and another that refers to a drifted one goes", drift: "lab_thing.a",
			before: `resource "lab_thing" "a" {}
resource "lab_thing" "m" {}
resource "lab_thing" "u" { name = lab_thing.a.color }`,
			after: `resource "lab_thing" "a" {}
resource "lab_thing" "m2" {}
moved {
  from = lab_thing.m
  to   = lab_thing.m2
}`},
		{name: "the argument of another instance of a module", drift: `module.m["a"].lab_thing.x`,
			before: `module "m" {
  for_each = toset(["a", "b"])
  source   = "./m"
  in       = each.key == "b" ? "old" : "other"
}
-- m/main.tf --
variable "in" {}
resource "lab_thing" "x" {}
resource "lab_thing" "y" { name = "${lab_thing.x.color}${var.in}" }
`,
			after: `module "m" {
  for_each = toset(["a", "b"])
  source   = "./m"
  in       = each.key == "a" ? "new" : "old"
}
-- m/main.tf --
variable "in" {}
resource "lab_thing" "x" {}
resource "lab_thing" "y" { name = "${lab_thing.x.color}${var.in}" }
`},
	} {
		c.play(t)
	}
}

// TestAffectedMended applies an object that does not fulfil its postcondition yet. Somebody mends the object, or its provider
// ends its work. The next plan must see that.
func TestAffectedMended(t *testing.T) {
	t.Parallel()
	for name, block := range map[string]string{
		"postcondition": `resource "lab_thing" "a" {
  lifecycle {
    postcondition {
      condition     = self.color == "ready"
      error_message = "It is not ready."
    }
  }
}`,
		"check block": `resource "lab_thing" "a" {}
check "ready" {
  assert {
    condition     = lab_thing.a.color == "ready"
    error_message = "It is not ready."
  }
}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newAffecting(t, hostileLab)
			s.files["main.tf"] = []byte(block)
			t.Logf("the apply: %v", s.carryOut(s.make(false, nil)))
			s.fakes["lab"].Edit("lab_thing", s.things(func(string) bool { return true })[0], map[string]cty.Value{"color": cty.StringVal("ready")})
			all, some := s.make(true, nil), s.make(false, nil)
			if len(all.ds) != 0 {
				t.Errorf("the plan that reads everything: %v", all.ds)
			}
			if len(some.ds) != 0 {
				t.Errorf("the plan that reads what is affected: %v, read %q", some.ds, some.read)
			}
			if why := some.everything(); why != "" {
				t.Errorf("everything was read: %s", why)
			}
		})
	}
}

// TestAffectedTokens makes a plan again because of drift, while a provider block has a value that is another one in each attempt.
func TestAffectedTokens(t *testing.T) {
	t.Parallel()
	hostile{name: "an ephemeral token", drift: "lab_thing.b",
		before: `ephemeral "lab_token" "t" { provider = lab.plain }
provider "lab" { token = ephemeral.lab_token.t.value }
provider "lab" { alias = "plain" }
resource "lab_thing" "b" {}
resource "lab_thing" "c" { name = lab_thing.b.color }`,
		after: `ephemeral "lab_token" "t" { provider = lab.plain }
provider "lab" { token = ephemeral.lab_token.t.value }
provider "lab" { alias = "plain" }
resource "lab_thing" "b" {}
resource "lab_thing" "c" {
  name  = lab_thing.b.color
  color = "new"
}`}.play(t)
}

// TestAffectedReconfigured makes a plan again because of drift, and the provider block has another value then. A process of a provider
// can be configured only once.
func TestAffectedReconfigured(t *testing.T) {
	t.Parallel()
	for _, c := range []hostile{
		{name: "a provider configured by a data source of a drifted object", drift: "lab_thing.a",
			before: `resource "lab_thing" "a" { provider = lab.plain }
provider "lab" { alias = "plain" }
data "lab_info" "i" {
  provider = lab.plain
  name     = lab_thing.a.color
}
provider "lab" { region = data.lab_info.i.value }
resource "lab_thing" "u" { name = "old" }`,
			after: `resource "lab_thing" "a" { provider = lab.plain }
provider "lab" { alias = "plain" }
data "lab_info" "i" {
  provider = lab.plain
  name     = lab_thing.a.color
}
provider "lab" { region = data.lab_info.i.value }
resource "lab_thing" "u" { name = "new" }`},
	} {
		c.play(t)
	}
}
