package eval_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/schematest"
)

// marked are declarations of a module with every kind of mark.
const marked = `
-- m/main.tf --
variable "name" { type = string }
variable "pin" {
  type      = string
  ephemeral = true
}
output "name" { value = var.name }
output "secret" {
  value     = var.name
  sensitive = true
}
output "pin" {
  value     = var.pin
  ephemeral = true
}
output "plain" {
  value     = "plain"
  ephemeral = true
}
output "local" {
  value     = local.plain
  ephemeral = true
}
output "call" {
  value     = module.n.x
  ephemeral = true
}
output "open" { value = var.pin }
locals {
  plain = "plain"
}
module "n" {
  source = "../n"
}
-- n/main.tf --
output "x" { value = 1 }
`

// phases are configurations in phases that leave some questions to a later one, by the switches
// "opaque" and "unexpanded", and the answers of the evaluator. The same names without the switches are beside
// them where the difference is the point.
var phases = []struct{ name, switches, files, want, errors string }{
	{"the values of modules", "", `
module "m" {
  source = "./m"
  name   = "n"
  pin    = var.pin
}
variable "pin" {
  ephemeral = true
  default   = "p"
}
locals {
  name = module.m.name
}
` + marked, `
module.m.var.name = "n"
module.m.var.pin = ephemeral("p")
module.m.output.name = "n"
module.m.output.secret = sensitive("n")
module.m.output.pin = ephemeral("p")
module.m.output.plain = error
module.m.output.local = error
module.m.output.call = error
module.m.output.open = error
local.name = "n"
`, `
m/main.tf:16: Value not allowed in ephemeral output
m/main.tf:20: Value not allowed in ephemeral output
m/main.tf:24: Value not allowed in ephemeral output
m/main.tf:27: Ephemeral value not allowed
`},
	{"the values of opaque modules", "opaque", `
module "m" {
  source = "./m"
  name   = "n"
  pin    = var.pin
}
variable "pin" {
  ephemeral = true
  default   = "p"
}
locals {
  name = module.m.name
}
` + marked, `
module.m.var.name = unknown
module.m.var.pin = ephemeral(unknown)
module.m.output.name = unknown
module.m.output.secret = sensitive(unknown)
module.m.output.pin = unknown
module.m.output.plain = error
module.m.output.local = unknown
module.m.output.call = unknown
module.m.output.open = error
local.name = unknown
`, `
m/main.tf:16: Value not allowed in ephemeral output
m/main.tf:27: Ephemeral value not allowed
`},
	{"constant outputs of opaque modules", "opaque", `
module "m" {
  source = "./m"
}
locals {
  one = module.m.one
  all = module.m
}
-- m/main.tf --
output "one" { value = 1 }
output "two" { value = 2 }
`, `
module.m.output.one = 1
local.one = unknown
local.all = {"one" = unknown, "two" = unknown}
`, ``},
	{"repeated calls without instances", "unexpanded", `
module "one" {
  source = "./m"
}
module "count" {
  source = "./m"
  count  = 2
}
module "each" {
  source   = "./m"
  for_each = { a = 1 }
}
locals {
  one     = module.one.x
  count   = module.count[*].x
  each    = module.each["a"].x
  all     = module.one
  unequal = module.count == module.each
}
-- m/main.tf --
output "x" { value = 1 }
output "y" { value = 2 }
`, `
local.one = 1
local.count = unknown
local.each = unknown
local.all = {"x" = 1, "y" = 2}
local.unequal = unknown
`, ``},
	{"arguments that a variable refuses", "", `
variable "pin" {
  ephemeral = true
  default   = "p"
}
resource "t_x" "a" {}
module "m" {
  source = "./m"
  must   = null
  may    = null
  pin    = var.pin
  old    = 1
  odd    = [1]
  later  = t_x.a.id
}
-- m/main.tf --
variable "must" { nullable = false }
variable "may" { type = string }
variable "pin" { type = string }
variable "old" {
  deprecated = "Use new."
  type       = number
}
variable "odd" { type = string }
variable "later" {
  deprecated = "Use new."
  type       = number
}
variable "unset" {
  deprecated = "Use new."
  type       = number
  default    = 1
}
-- resources --
t_x.a = { id = unknown }
`, `
module.m.var.must = error
module.m.var.may = null
module.m.var.pin = error
module.m.var.old = 1
module.m.var.odd = error
module.m.var.later = unknown
module.m.var.unset = 1
`, `
main.tf:11: Ephemeral value not allowed
main.tf:12: Variable marked as deprecated by the module author
main.tf:13: Invalid value for input variable
main.tf:14: Variable marked as deprecated by the module author
main.tf:9: Required variable not set
`},
	{"a deprecated variable of an opaque module", "opaque", `
resource "t_x" "a" {}
module "m" {
  source = "./m"
  known  = 1
  later  = t_x.a.id
  null   = null
}
-- m/main.tf --
variable "known" { deprecated = "Use new." }
variable "later" { deprecated = "Use new." }
variable "null" { deprecated = "Use new." }
-- resources --
t_x.a = { id = unknown }
`, `
module.m.var.known = unknown
module.m.var.later = unknown
module.m.var.null = unknown
`, `
main.tf:5: Variable marked as deprecated by the module author
`},
}

func TestPhases(t *testing.T) {
	t.Parallel()
	for _, c := range phases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := world(t, c.files)
			w.OpaqueModules, w.Unexpanded = strings.Contains(c.switches, "opaque"), strings.Contains(c.switches, "unexpanded")
			expect(t, w, c.want, c.errors)
		})
	}
}

// TestCollectResource is a table of the repetition of a resource, and of its value made of those of
// its instances: "one" and "two", as far as they are there.
func TestCollectResource(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode, repetition string
		unexpanded       bool
		want             string
	}{
		{"resource", "", false, `"one"`},
		{"resource", "", true, `"one"`},
		{"resource", "count = 2", false, `["one", "two"]`},
		{"resource", "count = 0", false, `[]`},
		{"resource", "count = 2", true, `unknown`},
		{"resource", "for_each = { a = 1, b = 2 }", false, `{"a" = "one", "b" = "two"}`},
		{"resource", "for_each = {}", false, `{}`},
		{"resource", "for_each = { a = 1, b = 2 }", true, `unknown`},
		{"ephemeral", "", false, `ephemeral("one")`},
		{"ephemeral", "count = 1", false, `ephemeral(["one"])`},
		{"resource", "lifecycle {\n    enabled = false\n  }", false, `null`},
		{"resource", "lifecycle {\n    enabled = true\n  }", false, `"one"`},
	} {
		w := world(t, c.mode+" \"t_x\" \"a\" {\n  "+c.repetition+"\n}\n")
		e := eval.New(t.Context(), w)
		r := w.Config.Root.Resources[addrs.Resource{Mode: map[string]addrs.ResourceMode{"resource": addrs.Managed, "ephemeral": addrs.Ephemeral}[c.mode], Type: "t_x", Name: "a"}]
		ins, ds := e.ResourceInstances(addrs.RootModuleInstance, r)
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		w.Unexpanded = c.unexpanded
		vals := []cty.Value{cty.StringVal("one"), cty.StringVal("two")}[:len(ins)]
		if got := schematest.Plain(eval.New(t.Context(), w).CollectResource(r, ins, vals)); got != c.want {
			t.Errorf("%s %s, unexpanded %v: %s, want %s", c.mode, c.repetition, c.unexpanded, got, c.want)
		}
	}
}

// TestForceEverything wants the errors of all values of all modules, and the subjects of conditions
// in a module without instances. Those that are left out have neither.
func TestForceEverything(t *testing.T) {
	t.Parallel()
	const text = `
module "m" {
  source = "./m"
  v      = 1
}
module "none" {
  source = "./none"
  count  = 0
}
-- m/main.tf --
variable "v" {
  validation {
    condition     = var.v == 2
    error_message = "Not 2."
  }
}
locals {
  l = upper([])
}
output "o" { value = lower([]) }
-- none/main.tf --
variable "v" {
  default = 1
  validation {
    condition     = var.v == 2
    error_message = "Not 2."
  }
}
variable "w" { default = 1 }
output "o" {
  value = 1
  precondition {
    condition     = var.v == 2
    error_message = "Not 2."
  }
}
output "p" { value = 1 }
`
	for _, c := range []struct{ skip, want string }{
		{"", "m/main.tf:10: Invalid function argument, m/main.tf:8: Invalid function argument, main.tf:4: Invalid value for variable, " +
			"var module.m.var.v fail, output_value module.none.output.o unknown, var module.none.var.v unknown"},
		{"v", "m/main.tf:10: Invalid function argument, m/main.tf:8: Invalid function argument, output_value module.none.output.o unknown"},
		{"l o", "main.tf:4: Invalid value for variable, var module.m.var.v fail, var module.none.var.v unknown"},
	} {
		e := eval.New(t.Context(), world(t, text))
		e.Force(func(o addrs.Object) bool { return slices.Contains(strings.Fields(c.skip), o.Name) })
		got := strings.Split(summaries(e.Diagnostics()), "\n")
		for _, check := range e.Checks() {
			got = append(got, check.Kind+" "+check.Config+" "+string(check.Status))
		}
		if diff := cmp.Diff(c.want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("without %q (-want +got)\n%s", c.skip, diff)
		}
	}
}

// TestConditionsWithoutSelf holds that a condition about an object that is gone has no result,
// where it or its message needs the object.
func TestConditionsWithoutSelf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ condition, message, want string }{
		{`self.n == 1`, `"x"`, "error"},
		{`local.one == 1`, `"${self.n}"`, "error"},
		{`local.one == 1`, `"x"`, "pass"},
		{`local.x == 1`, `"${var.x}"`, "pass"},
	} {
		w := world(t, "variable \"x\" {\n  default = 1\n}\nlocals {\n  one = 1\n  x = var.x\n}\nresource \"t_x\" \"a\" {\n  lifecycle {\n    postcondition {\n      condition = "+c.condition+"\n      error_message = "+c.message+"\n    }\n  }\n}\n")
		r := w.Config.Root.Resources[addrs.Resource{Mode: addrs.Managed, Type: "t_x", Name: "a"}]
		got := eval.New(t.Context(), w).Evaluate(r.Postconditions[0], eval.Scope{SelfGone: true})
		if string(got.Status) != c.want || len(got.Diags) > 0 {
			t.Errorf("%s, %s: %s %v, want %s", c.condition, c.message, got.Status, got.Diags, c.want)
		}
	}
}
