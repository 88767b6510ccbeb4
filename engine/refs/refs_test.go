package refs

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/source"
)

// load reads a configuration: a txtar archive, or the text of main.tf alone.
func load(t testing.TB, text string) *config.Config {
	t.Helper()
	a := txtar.Parse([]byte(text))
	files := map[string][]byte{"main.tf": a.Comment}
	for _, f := range a.Files {
		files[f.Name] = f.Data
	}
	cfg, ds := config.Load(config.Input{Tree: source.Files(files)})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return cfg
}

// objects returns everything that a configuration declares, by its printed address.
func objects(cfg *config.Config) map[string]addrs.Object {
	out := map[string]addrs.Object{}
	for _, m := range cfg.Order {
		add := func(kind addrs.ObjectKind, name string, r addrs.Resource) {
			o := addrs.Object{Module: m.Addr, Kind: kind, Name: name, Res: r}
			out[o.String()] = o
		}
		for n := range m.Variables {
			add(addrs.KindVariable, n, addrs.Resource{})
		}
		for n := range m.Locals {
			add(addrs.KindLocal, n, addrs.Resource{})
		}
		for n := range m.Outputs {
			add(addrs.KindOutput, n, addrs.Resource{})
		}
		for n := range m.Calls {
			add(addrs.KindCall, n, addrs.Resource{})
		}
		for n := range m.Checks {
			add(addrs.KindCheck, n, addrs.Resource{})
		}
		for n := range m.Providers {
			add(addrs.KindProvider, n.String(), addrs.Resource{})
		}
		for r := range m.Resources {
			add(addrs.KindResource, "", r)
		}
	}
	return out
}

func printed(list []addrs.Object) string {
	var out []string
	for _, o := range list {
		s := o.String()
		if o.Kind == addrs.KindInside {
			s = "everything in " + s
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}

// mentions are configurations with lines that say who mentions whom:
//
//	X -> A B          what X mentions directly
//	X => A B          the resources and provider configurations behind that
//	X waits for A B   what the resource X waits for by depends_on
var mentions = []struct{ name, files, want string }{
	{"values are looked through", `
variable "v" {}
locals {
  a = local.b
  b = "${var.v} ${t_x.one.id}"
}
resource "t_x" "one" {}
resource "t_x" "two" { name = local.a }
output "o" { value = [local.a, t_x.two] }
`, `
local.a -> local.b
local.b -> t_x.one var.v
t_x.two -> local.a
t_x.two => t_x.one
output.o => t_x.one t_x.two
var.v ->
`},
	{"every place of a resource counts", `
resource "t_x" "a" {}
resource "t_x" "b" {}
resource "t_x" "c" { count = 2 }
resource "t_x" "d" { for_each = {} }
resource "t_x" "e" {}
resource "t_x" "f" {}
resource "t_x" "g" {}
resource "t_x" "h" {}
resource "t_x" "all" {
  count = length(t_x.a.id)
  name  = { for k, v in t_x.b : k => [v, "${t_x.c[count.index].id}"] }
  block {
    deep {
      name = t_x.d["x"].id
    }
  }
  depends_on = [t_x.e]
  lifecycle {
    replace_triggered_by = [t_x.f.name]
    precondition {
      condition     = t_x.g.id != ""
      error_message = "g"
    }
    postcondition {
      condition     = self.id != ""
      error_message = "not ${t_x.h.id}"
    }
  }
}
`, `
t_x.all => t_x.a t_x.b t_x.c t_x.d t_x.e t_x.f t_x.g t_x.h
t_x.all waits for t_x.e
`},
	{"provisioners and connections count; those for the destruction mention nothing else", `
resource "t_x" "a" {}
resource "t_x" "b" {}
resource "t_x" "c" {}
resource "t_x" "all" {
  connection {
    host = t_x.a.id
  }
  provisioner "local-exec" {
    command = "echo ${t_x.b.id} ${self.id}"
    connection {
      host = t_x.c.id
    }
  }
}
resource "t_x" "destroyed" {
  provisioner "local-exec" {
    when    = destroy
    command = "echo ${self.id}"
  }
}
`, `
t_x.all => t_x.a t_x.b t_x.c
t_x.destroyed =>
`},
	{"iterators of dynamic blocks are no resources", `
variable "list" {}
resource "t_x" "a" {}
resource "t_x" "all" {
  dynamic "rule" {
    for_each = var.list
    content {
      port = rule.value
      dynamic "inner" {
        for_each = rule.value.list
        iterator = it
        labels   = [it.key]
        content {
          name = "${it.value} ${rule.key} ${t_x.a.id}"
        }
      }
    }
  }
}
`, `
t_x.all -> t_x.a var.list
`},
	{"the long names mean the same", `
resource "t_x" "a" {}
data "t_x" "a" {}
ephemeral "t_x" "a" {}
locals {
  all = [resource.t_x.a.id, data.t_x.a.id, ephemeral.t_x.a.id]
}
`, `
local.all -> data.t_x.a ephemeral.t_x.a t_x.a
`},
	{"a module's output is that output, a module is everything in it", `
module "m" {
  source = "./m"
  in     = t_x.root.id
  unused = t_x.other.id
}
resource "t_x" "root" {}
resource "t_x" "other" {}
resource "t_x" "one" { name = module.m.one }
resource "t_x" "both" { name = [module.m.one, module.m.two] }
resource "t_x" "whole" { name = module.m }
resource "t_x" "after" { depends_on = [module.m] }
-- m/main.tf --
variable "in" {}
variable "unused" {}
resource "t_x" "a" { name = var.in }
resource "t_x" "b" {}
resource "t_x" "c" {}
output "one" { value = t_x.a.id }
output "two" { value = t_x.b.id }
`, `
t_x.one -> module.m.output.one
t_x.one => module.m.t_x.a
t_x.both => module.m.t_x.a module.m.t_x.b
t_x.whole => module.m.t_x.a module.m.t_x.b module.m.t_x.c
t_x.after => module.m.t_x.a module.m.t_x.b module.m.t_x.c
t_x.after waits for module.m.t_x.a module.m.t_x.b module.m.t_x.c
module.m.t_x.a => t_x.root
module.m.t_x.b =>
module.m.var.in -> module.m t_x.root
module.m.output.two -> module.m module.m.t_x.b
`},
	{"what a call depends on, all in it depends on", `
resource "t_x" "n" {}
resource "t_x" "first" {}
module "m" {
  source     = "./m"
  count      = length(t_x.n.id)
  depends_on = [t_x.first]
}
resource "t_x" "last" { name = module.m[0].id }
resource "t_x" "every" { name = module.m[*].id }
-- m/main.tf --
module "inner" {
  source = "./inner"
}
resource "t_x" "a" {}
output "id" { value = module.inner.id }
-- m/inner/main.tf --
resource "t_x" "b" {}
data "t_x" "c" {}
output "id" { value = "x" }
`, `
module.m.t_x.a => t_x.first t_x.n
module.m.module.inner.t_x.b => t_x.first t_x.n
module.m.module.inner.data.t_x.c waits for t_x.first
t_x.last => t_x.first t_x.n
t_x.every => module.m.module.inner.data.t_x.c module.m.module.inner.t_x.b module.m.t_x.a t_x.first t_x.n
`},
	{"two instances of one directory are two modules", `
resource "t_x" "a" {}
resource "t_x" "b" {}
module "m" {
  source = "./m"
  in     = t_x.a.id
}
module "n" {
  source = "./m"
  in     = t_x.b.id
}
-- m/main.tf --
variable "in" {}
resource "t_x" "x" { name = var.in }
`, `
module.m.t_x.x => t_x.a
module.n.t_x.x => t_x.b
`},
	{"a provider's configuration stands between", `
terraform {
  required_providers {
    t = { source = "example/t" }
  }
}
data "t_x" "token" {
  provider = t.plain
}
provider "t" {
  alias = "plain"
}
provider "t" {
  token = data.t_x.token.id
}
resource "t_x" "a" {}
module "m" {
  source = "./m"
  providers = {
    t = t.plain
  }
}
module "n" {
  source = "./m"
}
-- m/main.tf --
terraform {
  required_providers {
    t = { source = "example/t" }
  }
}
resource "t_x" "a" {}
`, `
t_x.a => provider.t
provider.t => data.t_x.token
data.t_x.token => provider.t.plain
module.m.t_x.a => provider.t.plain
module.n.t_x.a => provider.t
`},
	{"conditions of values count; a validation may look at its own variable", `
resource "t_x" "a" {}
variable "low" {}
variable "v" {
  validation {
    condition     = var.v > var.low
    error_message = "not ${var.v}"
  }
}
output "o" {
  value      = 1
  depends_on = [t_x.a]
  precondition {
    condition     = var.v > 1
    error_message = "v"
  }
}
check "c" {
  assert {
    condition     = t_x.a.id != ""
    error_message = "a"
  }
}
`, `
var.v -> var.low
output.o -> t_x.a var.v
check.c => t_x.a
`},
	{"references of an import block are the target's", `
resource "t_x" "a" {}
resource "t_x" "b" {}
import {
  to = t_x.b
  id = t_x.a.id
}
`, `
t_x.b => t_x.a
`},
	{"files in JSON", `
-- main.tf.json --
{
  "locals": { "l": "${t_x.a.id}" },
  "resource": { "t_x": {
    "a": {},
    "b": { "name": "x ${local.l}", "block": [{ "name": "${t_x.c.id}" }], "depends_on": ["t_x.d"] },
    "c": {},
    "d": {}
  } }
}
`, `
t_x.b => t_x.a t_x.c t_x.d
`},
	{"a resource that mentions itself is for the plan to refuse", `
resource "t_x" "a" {
  count = 2
  name  = t_x.a[0].id
}
`, `
t_x.a -> t_x.a
t_x.a =>
`},
}

func TestMentions(t *testing.T) {
	t.Parallel()
	for _, c := range mentions {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := load(t, c.files)
			r, ds := Analyze(cfg)
			if ds.HasErrors() {
				t.Fatal(ds)
			}
			declared := objects(cfg)
			var got, want []string
			for _, line := range strings.Split(strings.TrimSpace(c.want), "\n") {
				want = append(want, strings.TrimSpace(line))
				got = append(got, strings.TrimSpace(answer(t, cfg, r, declared, line)))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// answer makes the line for what a wanted line asks.
func answer(t *testing.T, cfg *config.Config, r *Refs, declared map[string]addrs.Object, line string) string {
	t.Helper()
	name, _, _ := strings.Cut(line, " ")
	o, ok := declared[name]
	if !ok {
		t.Fatalf("nothing declares %s", name)
	}
	switch {
	case strings.HasPrefix(line, name+" ->"):
		list := slices.DeleteFunc(slices.Clone(r.Direct(o)), func(o addrs.Object) bool { return o.Kind == addrs.KindProvider })
		return name + " -> " + printed(list)
	case strings.HasPrefix(line, name+" =>"):
		return name + " => " + printed(r.Resources(o))
	case strings.HasPrefix(line, name+" waits for"):
		m := cfg.Modules[o.Module]
		return name + " waits for " + printed(r.DependsOn(m, m.Resources[o.Res]))
	}
	t.Fatalf("what does %q mean?", line)
	return ""
}

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
			if len(ds) != 1 || !strings.HasPrefix(ds[0].Summary, "Cycle: ") {
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
		{"an output that a module does not have", `
module "m" {
  source = "./m"
}
locals {
  a = module.m.colour
  b = module.m[0].colour
}
-- m/main.tf --
output "color" { value = 1 }
`, `
main.tf:6: Unsupported attribute: Did you mean "color"?
main.tf:7: Unsupported attribute: Did you mean "color"?
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
main.tf:12: Reference to "each" in context without for_each
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

// TestReferences looks at what a single expression's references know.
func TestReferences(t *testing.T) {
	t.Parallel()
	cfg := load(t, `
resource "t_x" "a" { for_each = {} }
resource "t_x" "b" {}
module "m" {
  source   = "./m"
  for_each = {}
}
locals {
  l = [t_x.a["k"].id, t_x.b.id, module.m["k"].out.x, module.m[*].out, t_x.a[local.i]]
  i = 0
}
-- m/main.tf --
output "out" { value = 1 }
`)
	r, ds := Analyze(cfg)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	var got []string
	for _, ref := range r.OfExpr(cfg.Root.Locals["l"].Expr) {
		s := ref.Object.String()
		if ref.HasKey {
			s += ref.Key.String()
		}
		if ref.Output != "" {
			s += " output " + ref.Output
		}
		got = append(got, s)
	}
	slices.Sort(got)
	want := []string{
		"local.i", `module.m`, `module.m["k"] output out`, "t_x.a", `t_x.a["k"]`, "t_x.b",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
