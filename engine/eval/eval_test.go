package eval_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"golang.org/x/tools/txtar"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/funcs"
	"github.com/lockstep-iac/lockstep/engine/internal/schematest"
	"github.com/lockstep-iac/lockstep/engine/refs"
)

// parse evaluates an expression of a test: see schematest.Context.
func parse(t testing.TB, text string) cty.Value {
	t.Helper()
	expr, hs := hclsyntax.ParseExpression([]byte(text), "test", hcl.InitialPos)
	if hs.HasErrors() {
		t.Fatalf("%s: %s", text, hs)
	}
	v, hs := expr.Value(&schematest.Context)
	if hs.HasErrors() {
		t.Fatalf("%s: %s", text, hs)
	}
	return v
}

// assignments reads lines "NAME = EXPRESSION".
func assignments(t testing.TB, text string) map[string]cty.Value {
	t.Helper()
	out := map[string]cty.Value{}
	for line := range strings.Lines(text) {
		if name, src, ok := strings.Cut(line, " = "); ok {
			out[name] = parse(t, src)
		}
	}
	return out
}

// world builds a phase from a txtar archive: the files of the configuration, and
// "resources" and "variables" with their values.
func world(t testing.TB, text string) eval.Phase {
	t.Helper()
	a := txtar.Parse([]byte(text))
	files := map[string][]byte{"main.tf": a.Comment}
	var resources, variables map[string]cty.Value
	for _, f := range a.Files {
		switch f.Name {
		case "resources":
			resources = assignments(t, string(f.Data))
		case "variables":
			variables = assignments(t, string(f.Data))
		default:
			files[f.Name] = f.Data
		}
	}
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(files)})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	rs, ds := refs.Analyze(cfg)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	for name, v := range cfg.Root.Variables {
		if _, ok := variables[name]; !ok && v.Default != cty.NilVal {
			if variables == nil {
				variables = map[string]cty.Value{}
			}
			variables[name] = v.Default
		}
	}
	return eval.Phase{
		Program: eval.Program{
			Config: cfg, Refs: rs, Functions: funcs.Table(funcs.Scope{}),
			RootDir: ".", WorkingDir: "/work", Workspace: "default",
		},
		Variables: variables,
		Resource: func(_ context.Context, a addrs.AbsResource, _ []addrs.InstanceKey) (cty.Value, diags.Diagnostics) {
			v, ok := resources[a.String()]
			if !ok {
				return cty.DynamicVal, diags.Errorf(nil, "No value for "+a.String(), "")
			}
			return v, nil
		},
	}
}

// ask returns what an evaluator says about each name: a value, or for a resource or a
// module its instance keys.
func ask(t testing.TB, w eval.Phase, e *eval.Evaluator, name string) string {
	t.Helper()
	for _, m := range w.Config.Order {
		e.Modules(m)
	}
	in, rest := addrs.RootModuleInstance, name
	for _, kind := range []string{"local.", "output.", "var."} {
		if i := strings.LastIndex(name, kind); i > 0 {
			var err error
			if in, err = addrs.ParseModuleInstance(strings.TrimSuffix(name[:i], ".")); err != nil {
				t.Fatal(err)
			}
			rest = name[i:]
		}
	}
	kind, short, _ := strings.Cut(rest, ".")
	var v cty.Value
	var ds diags.Diagnostics
	switch kind {
	case "local":
		v, ds = e.Local(in, short)
	case "output":
		v, ds = e.Output(in, short)
	case "var":
		v, ds = e.Variable(in, short)
	default:
		return keys(t, w, e, name)
	}
	if ds.HasErrors() {
		return "error"
	}
	return schematest.Plain(v)
}

// keys returns the instance keys of a resource or a module call of the root module.
func keys(t testing.TB, w eval.Phase, e *eval.Evaluator, name string) string {
	t.Helper()
	var list []eval.Instance
	var ds diags.Diagnostics
	if call, ok := strings.CutPrefix(name, "module."); ok {
		list, ds = e.CallInstances(addrs.RootModuleInstance, call)
	} else {
		a, err := addrs.ParseConfigResource(name)
		if err != nil {
			t.Fatal(err)
		}
		list, ds = e.ResourceInstances(addrs.RootModuleInstance, w.Config.Root.Resources[a.Resource])
	}
	if ds.HasErrors() {
		return "error"
	}
	var out []string
	for _, x := range list {
		text := x.Key.String()
		if x.HasEach {
			text += "=" + schematest.Plain(x.Value)
		}
		out = append(out, text)
	}
	return "instances " + strings.Join(out, " ")
}

// summaries returns `file:line: summary` of each diagnostic, sorted.
func summaries(ds diags.Diagnostics) string {
	var out []string
	for _, d := range ds {
		d.Detail = ""
		out = append(out, d.String())
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// values are configurations, and what the evaluator says about names in them.
var values = []struct{ name, files, want, errors string }{
	{"named values", `
variable "a" { default = 1 }
variable "text" {
  type    = string
  default = 5
}
variable "given" {}
variable "missing" { type = string }
locals {
  twice = local.base * 2
  base  = var.a + 1
  path  = "${path.module} ${path.root} ${path.cwd} ${terraform.workspace}"
  maybe = var.missing
}
output "all" { value = [local.twice, var.text, var.given] }
-- variables --
given = { x = [true] }
`, `
local.twice = 4
var.text = "5"
output.all = [4, "5", {"x" = [true]}]
local.path = ". . /work default"
local.maybe = unknown
`, ""},
	{"resources in every shape", `
resource "t_x" "one" {}
resource "t_x" "count" { count = 2 }
resource "t_x" "each" { for_each = { a = 1 } }
data "t_x" "d" {}
ephemeral "t_x" "e" {}
locals {
  fleeting = ephemeral.t_x.e.id
  ids    = [t_x.one.id, t_x.count[1].id, t_x.each["a"].id, data.t_x.d.id, resource.t_x.one.id]
  splat  = t_x.count[*].id
  values = values(t_x.each)[0].id
  whole  = t_x.count
}
-- resources --
t_x.one = { id = "1" }
t_x.count = [{ id = "c0" }, { id = unknown }]
t_x.each = { a = { id = sensitive("e") } }
data.t_x.d = { id = "d" }
ephemeral.t_x.e = { id = ephemeral("e") }
`, `
local.ids = ["1", unknown, sensitive("e"), "d", "1"]
local.fleeting = ephemeral("e")
local.splat = ["c0", unknown]
local.values = sensitive("e")
local.whole = [{"id" = "c0"}, {"id" = unknown}]
t_x.count = instances [0] [1]
t_x.each = instances ["a"]=1
t_x.one = instances 
`, ""},
	{"module calls: one output, or all of them", `
module "m" {
  source = "./m"
  name   = "n"
}
module "count" {
  source = "./m"
  count  = 2
  name   = "c${count.index}"
}
module "each" {
  source   = "./m"
  for_each = toset(["b", "a"])
  name     = each.key
}
locals {
  good  = module.m.good
  count = module.count[*].good
  each  = { for k, m in module.each : k => m.good }
  first = module.count[0].good
  bad   = module.m.bad
}
-- m/main.tf --
variable "name" { type = string }
output "good" { value = "<${var.name}>" }
output "bad" { value = tonumber("x") }
`, `
local.good = "<n>"
local.first = "<c0>"
module.m = instances 
module.count = instances [0] [1]
module.each = instances ["a"]="a" ["b"]="b"
module.count[1].output.good = "<c1>"
local.bad = error
local.count = error
local.each = error
`, `
m/main.tf:3: Invalid function argument
m/main.tf:3: Invalid function argument
m/main.tf:3: Invalid function argument
m/main.tf:3: Invalid function argument
m/main.tf:3: Invalid function argument
`},
	{"arguments are converted to the variable's type", `
module "m" {
  source = "./m"
  number = "12"
  object = { a = 1, extra = true }
  null   = null
  free   = null
}
module "bad" {
  source = "./m"
  number = "many"
  object = { a = 1 }
  null   = 2
}
-- m/main.tf --
variable "number" { type = number }
variable "object" { type = object({ a = string, b = optional(list(number), [7]) }) }
variable "null" {
  nullable = false
  default  = "default"
}
variable "free" { default = "default" }
`, `
module.m.var.number = 12
module.m.var.object = {"a" = "1", "b" = [7]}
module.m.var.null = "default"
module.m.var.free = null
module.bad.var.number = error
module.bad.var.null = 2
module.bad.var.free = "default"
`, `
main.tf:11: Invalid value for input variable
`},
	{"sensitive and ephemeral declarations mark", `
variable "secret" {
  sensitive = true
  default   = "s"
}
variable "pin" {
  ephemeral = true
  default   = "p"
}
locals {
  open = nonsensitive(var.secret)
  both = "${var.secret}${var.pin}"
}
output "secret" {
  value     = [var.secret]
  sensitive = true
}
output "shown" { value = [var.secret] }
output "pin" { value = var.pin }
module "m" {
  source = "./m"
}
locals {
  out = module.m.out
}
-- m/main.tf --
output "out" {
  value     = "x"
  sensitive = true
}
`, `
var.secret = sensitive("s")
var.pin = ephemeral("p")
local.open = "s"
output.secret = sensitive([sensitive("s")])
local.out = sensitive("x")
output.shown = error
output.pin = error
`, `
main.tf:18: Output refers to sensitive values
main.tf:19: Ephemeral value not allowed
`},
	{"an error is reported once, whoever is waiting", `
locals {
  bad = upper([])
  a   = local.bad
  b   = [local.bad, local.a]
  c   = [local.bad]
}
resource "t_x" "x" {}
output "o" { value = local.b }
`, `
output.o = error
local.b = error
local.a = error
local.c = error
`, `
main.tf:3: Invalid function argument
`},
	{"count and for_each", `
variable "secret" {
  sensitive = true
  default   = 2
}
variable "pin" {
  ephemeral = true
  default   = 2
}
resource "t_x" "none" { count = 0 }
resource "t_x" "vast" { count = 3000000000 }
resource "t_x" "boundless" { count = 1e30 }
resource "t_x" "fleeting" { count = var.pin }
resource "t_x" "fleeting_each" { for_each = toset([tostring(var.pin)]) }
resource "t_x" "emptied" { for_each = setsubtract(toset([1]), toset([1])) }
resource "t_x" "whole_later" { for_each = t_x.a.n }
resource "t_x" "null_each" { for_each = null }
variable "null_map" {
  type    = map(string)
  default = null
}
resource "t_x" "null_map" { for_each = var.null_map }
resource "t_x" "word_each" { for_each = "a" }
resource "t_x" "text" { count = "1" }
resource "t_x" "secret" { count = var.secret }
resource "t_x" "negative" { count = -1 }
resource "t_x" "half" { count = 1.5 }
resource "t_x" "null" { count = null }
resource "t_x" "word" { count = "many" }
resource "t_x" "unknown" { count = t_x.a.n }
resource "t_x" "a" {}
resource "t_x" "map" { for_each = { b = t_x.a.n, a = sensitive(1) } }
resource "t_x" "set" { for_each = toset(["b", "a"]) }
resource "t_x" "empty" { for_each = {} }
resource "t_x" "tuple" { for_each = ["a"] }
resource "t_x" "numbers" { for_each = toset([1]) }
resource "t_x" "hidden" { for_each = sensitive({ a = 1 }) }
resource "t_x" "later" { for_each = toset([t_x.a.n]) }
resource "t_x" "nulls" { for_each = toset([null]) }
-- resources --
t_x.a = { n = unknown }
`, `
t_x.none = instances 
t_x.vast = error
t_x.boundless = error
t_x.fleeting = error
t_x.fleeting_each = error
t_x.emptied = instances 
t_x.whole_later = error
t_x.null_each = error
t_x.null_map = error
t_x.word_each = error
t_x.text = instances [0]
t_x.secret = instances [0] [1]
t_x.negative = error
t_x.half = error
t_x.null = error
t_x.word = error
t_x.unknown = error
t_x.map = instances ["a"]=sensitive(1) ["b"]=unknown
t_x.set = instances ["a"]="a" ["b"]="b"
t_x.empty = instances 
t_x.tuple = error
t_x.numbers = error
t_x.hidden = error
t_x.later = error
t_x.nulls = error
`, ""},
	{"a validation that fails", `
variable "v" {
  default = 3
  validation {
    condition     = var.v < var.max
    error_message = "more than ${var.max}"
  }
}
variable "max" { default = 2 }
locals {
  v = var.v
}
`, `
var.v = error
local.v = error
var.max = 2
`, `
main.tf:2: Invalid value for variable
`},
	{"an output's precondition that fails", `
locals {
  two = 2
}
output "o" {
  value = 1
  precondition {
    condition     = local.two < 2
    error_message = "never"
  }
}
`, `
output.o = error
`, `
main.tf:8: Module output value precondition failed
`},
}

func TestValues(t *testing.T) {
	t.Parallel()
	for _, c := range values {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			expect(t, world(t, c.files), c.want, c.errors)
		})
	}
}

// expect asks an evaluator of a phase for the names in want, and compares the answers and the
// diagnostics.
func expect(t *testing.T, w eval.Phase, answers, problems string) {
	t.Helper()
	e := eval.New(t.Context(), w)
	var got []string
	want := strings.Split(strings.Trim(answers, "\n"), "\n")
	for _, line := range want {
		name, _, _ := strings.Cut(line, " = ")
		got = append(got, name+" = "+ask(t, w, e, name))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(strings.TrimSpace(problems), summaries(e.Diagnostics())); diff != "" {
		t.Errorf("diagnostics (-want +got)\n%s", diff)
	}
}
