package refs

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
)

// load reads a configuration: a txtar archive, or the text of main.tf alone.
func load(t testing.TB, text string) *config.Config {
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
//	X imports by A B  what the import blocks for X mention
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
t_x.whole => module.m.t_x.a module.m.t_x.b module.m.t_x.c t_x.other t_x.root
t_x.after => module.m.t_x.a module.m.t_x.b module.m.t_x.c t_x.other t_x.root
t_x.after waits for module.m.t_x.a module.m.t_x.b module.m.t_x.c t_x.other t_x.root
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
	{"references of an import block are not the target's", `
resource "t_x" "a" {}
resource "t_x" "b" {}
import {
  to = t_x.b
  id = t_x.a.id
}
`, `
t_x.b =>
t_x.b imports by t_x.a
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
	case strings.HasPrefix(line, name+" imports by"):
		return name + " imports by " + printed(r.Imports(o))
	case strings.HasPrefix(line, name+" waits for"):
		m := cfg.Modules[o.Module]
		return name + " waits for " + printed(r.DependsOn(m, m.Resources[o.Res]))
	}
	t.Fatalf("what does %q mean?", line)
	return ""
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
