package eval_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/eval"
)

// TestConditions evaluates the postconditions of one resource and looks at the
// results: the status, the message, and what else is said.
func TestConditions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ condition, message, self, want string }{
		{`self.n == 1`, `"n is ${self.n}"`, `{ n = 1 }`, `pass`},
		{`self.n == 1`, `"n is ${self.n}"`, `{ n = 2 }`, `fail: n is 2`},
		{`self.n == 1`, `"  two lines\nor more\n"`, `{ n = 2 }`, "fail: two lines\nor more"},
		{`self.n == 1`, `self.n`, `{ n = 2 }`, `fail: 2`},
		{`self.n == 1`, `"x"`, `{ n = unknown }`, `unknown`},
		{`self.n == 1`, `"x"`, `{ n = sensitive(1) }`, `pass`},
		{`self.n`, `"x"`, `{ n = "true" }`, `pass`},
		{`self.n`, `"x"`, `{ n = "yes" }`, `error: Invalid condition result`},
		{`self.n`, `"x"`, `{ n = null }`, `error: Invalid condition result`},
		{`self.n == 1`, `"n is ${self.n}"`, `{ n = sensitive(2) }`,
			`fail: The error message included a sensitive value, so it will not be displayed.: Error message refers to sensitive values`},
		{`self.n == 1`, `"n is ${self.n}"`, `{ n = ephemeral(2) }`,
			`fail: The error message included an ephemeral value, so it will not be displayed.: Error message refers to ephemeral values`},
		{`self.n == 1`, `self.m`, `{ n = 2, m = unknown }`, `fail: The error message depends on values that are not known yet.`},
		{`self.n == 1`, `self.m`, `{ n = 2, m = [] }`,
			`error: Invalid error message`},
		{`self.n == 2`, `self.m`, `{ n = 2, m = null }`, `error: Invalid error message`},
		{`self.m == 1`, `"x"`, `{ n = 2 }`, `error: Unsupported attribute`},
		{`self.n == 1`, `upper([self.n])`, `{ n = 1 }`, `error: Invalid function argument`},
		{`self.n == 1`, `"x"`, ``, `error: Invalid "self" reference`},
		{`self.n == 1 && t_x.none.id == 1`, `"x"`, `{ n = 1 }`, `error: No value for t_x.none`},
		{`self.n == 1 && local.bad == 1`, `"x"`, `{ n = 1 }`, `: a prerequisite failed`},
	} {
		t.Run(c.condition+" of "+c.self, func(t *testing.T) {
			t.Parallel()
			w := world(t, fmt.Sprintf(`
resource "t_x" "a" {
  lifecycle {
    postcondition {
      condition     = %s
      error_message = %s
    }
  }
}
resource "t_x" "none" {}
locals {
  bad = upper([])
}
`, c.condition, c.message))
			var s eval.Scope
			if c.self != "" {
				s.Self = parse(t, c.self)
			}
			e := eval.New(t.Context(), w)
			r := w.Config.Root.Resources[addrs.Resource{Mode: addrs.Managed, Type: "t_x", Name: "a"}]
			got := e.Evaluate(r.Postconditions[0], s)
			text := string(got.Status)
			if got.Message != "" {
				text += ": " + got.Message
			}
			for _, d := range got.Diags {
				text += ": " + d.Summary
			}
			if diff := cmp.Diff(c.want, text); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestChecks makes sure that the results of all conditions of an object become one, the
// worst, and that an object whose conditions were only declared is there.
func TestChecks(t *testing.T) {
	t.Parallel()
	w := world(t, `
resource "t_x" "a" {
  count = 2
  lifecycle {
    precondition {
      condition     = local.two == count.index + 2
      error_message = "index ${count.index}"
    }
    precondition {
      condition     = local.unknown == 1
      error_message = "unknown"
    }
    precondition {
      condition     = local.two < 1
      error_message = "less"
    }
  }
}
resource "t_x" "b" {}
locals {
  two     = 2
  unknown = t_x.b.id
}
-- resources --
t_x.b = { id = unknown }
`)
	e := eval.New(t.Context(), w)
	r := w.Config.Root.Resources[addrs.Resource{Mode: addrs.Managed, Type: "t_x", Name: "a"}]
	instances, ds := e.ResourceInstances(addrs.RootModuleInstance, r)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	e.Declare(eval.Subject{Kind: "resource", Config: "t_x.b", Object: "t_x.b"}, 1)
	for i := range instances {
		addr := "t_x.a" + instances[i].Key.String()
		first := r.Preconditions[:2+i] // the third one fails, and is for the second instance
		e.Conditions(first, eval.Scope{Instance: &instances[i]}, eval.Subject{Kind: "resource", Config: "t_x.a", Object: addr}, "failed")
	}
	var got []string
	for _, c := range e.Checks() {
		got = append(got, strings.Join(append([]string{c.Config, c.Object, string(c.Status)}, c.Failures...), " "))
	}
	want := []string{"t_x.a t_x.a[0] unknown", "t_x.a t_x.a[1] fail index 1 less", "t_x.b t_x.b unknown"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestRecords is a table of the number of an object's conditions, of the results of some of them, and of
// what is in the record.
func TestRecords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		declared int
		results  string // of n: met, unmet, secret, later, broken
		want     string
	}{
		{2, "", `unknown []`},
		{2, "met", `unknown []`},
		{2, "met met", `pass []`},
		{2, "unmet", `fail ["is 2"]`},
		{2, "met unmet", `fail ["is 2"]`},
		{2, "unmet met", `fail ["is 2"]`},
		{2, "unmet unmet", `fail ["is 2" "is 2"]`},
		{1, "secret", `fail []`},
		{2, "secret unmet", `fail ["is 2"]`},
		{0, "met", `pass []`},
		{2, "later met", `unknown []`},
		{2, "later unmet", `fail ["is 2"]`},
		{2, "unmet later", `fail ["is 2"]`},
		{2, "broken unmet", `error ["is 2"]`},
		{2, "unmet broken", `error ["is 2"]`},
		{2, "later broken", `error []`},
	} {
		w := world(t, "resource \"t_x\" \"a\" {\n  lifecycle {\n    postcondition {\n      condition     = self.n == 1\n      error_message = \"is ${self.n}\"\n    }\n  }\n}\n")
		e := eval.New(t.Context(), w)
		r := w.Config.Root.Resources[addrs.Resource{Mode: addrs.Managed, Type: "t_x", Name: "a"}]
		about := eval.Subject{Kind: "resource", Config: "t_x.a", Object: "t_x.a"}
		e.Declare(about, c.declared)
		for _, result := range strings.Fields(c.results) {
			self := parse(t, map[string]string{"met": "{ n = 1 }", "unmet": "{ n = 2 }", "secret": "{ n = sensitive(2) }", "later": "{ n = unknown }", "broken": "{ m = 1 }"}[result])
			e.Conditions(r.Postconditions, eval.Scope{Self: self}, about, "failed")
		}
		for _, got := range e.Checks() {
			if text := fmt.Sprintf("%s %q", got.Status, got.Failures); text != c.want {
				t.Errorf("%q of %d: %s, want %s", c.results, c.declared, text, c.want)
			}
		}
	}
}

// TestCheckKnownAfterApply wants a warning for what cannot be checked: while planning, and when
// what is applied is a refresh, which creates nothing.
func TestCheckKnownAfterApply(t *testing.T) {
	t.Parallel()
	for _, applying := range []bool{false, true} {
		w := world(t, `
resource "t_x" "b" {}
check "c" {
  assert {
    condition     = t_x.b.id == "1"
    error_message = "not 1"
  }
}
-- resources --
t_x.b = { id = unknown }
`)
		w.Applying = applying
		e := eval.New(t.Context(), w)
		ds := e.Conditions(w.Config.Root.Checks["c"].Asserts, eval.Scope{}, eval.Subject{Kind: eval.KindCheck, Config: "check.c", Object: "check.c"}, "failed")
		if got, want := summaries(ds), "main.tf:5: Check block assertion known after apply"; got != want {
			t.Errorf("applying %v: %q, want %q", applying, got, want)
		}
	}
}

// TestStatic evaluates a configuration of which nothing is known but its text, as
// validation does.
func TestStatic(t *testing.T) {
	t.Parallel()
	w := world(t, `
variable "given" { type = string }
resource "t_x" "a" { count = var.given == "" ? 1 : 0 }
resource "t_x" "b" { for_each = toset([var.given]) }
resource "t_x" "c" { for_each = { a = 1 } }
module "m" {
  source   = "./m"
  for_each = { x = 1 }
  name     = each.key
}
locals {
  a = t_x.a
  m = module.m["x"].out
}
-- m/main.tf --
variable "name" { type = string }
output "out" { value = var.name }
-- resources --
t_x.a = unknown
`)
	w.Unexpanded, w.OpaqueModules, w.AssertionsUnevaluated = true, true, true
	w.Variables = nil
	e := eval.New(t.Context(), w)
	for name, want := range map[string]string{
		"var.given": "unknown", "local.a": "unknown", "local.m": "unknown",
		"t_x.a": "instances ", "t_x.b": "instances =unknown", "t_x.c": "instances =unknown",
	} {
		if got := ask(t, w, e, name); got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
	if ds := e.Diagnostics(); len(ds) > 0 {
		t.Error(ds)
	}
}

// TestKeysFromThePlan gives the evaluator the keys that were decided before: counts and
// for_each are not asked again, but each.value is.
func TestKeysFromThePlan(t *testing.T) {
	t.Parallel()
	w := world(t, `
resource "t_x" "count" { count = upper([]) }
resource "t_x" "each" { for_each = { a = t_x.one.id, b = 2 } }
resource "t_x" "one" {}
module "m" {
  source = "./m"
  count  = upper([])
}
-- m/main.tf --
output "out" { value = 1 }
-- resources --
t_x.one = { id = "1" }
`)
	w.ResourceKeys = func(a addrs.AbsResource) ([]addrs.InstanceKey, bool) {
		keys, ok := map[string][]addrs.InstanceKey{
			"t_x.count": {addrs.IntKey(0), addrs.IntKey(1)}, "t_x.each": {addrs.StringKey("a")},
		}[a.String()]
		return keys, ok
	}
	w.CallKeys = func(addrs.ModuleInstance, string) ([]addrs.InstanceKey, bool) {
		return []addrs.InstanceKey{addrs.IntKey(0)}, true
	}
	e := eval.New(t.Context(), w)
	for name, want := range map[string]string{
		"t_x.count": "instances [0] [1]", "t_x.each": `instances ["a"]="1"`, "module.m": "instances [0]",
		"module.m[0].output.out": "1",
	} {
		if got := ask(t, w, e, name); got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
}

// TestBlockContext makes sure that what an instance sees is its own, though everything
// else is shared.
func TestBlockContext(t *testing.T) {
	t.Parallel()
	w := world(t, `
resource "t_x" "a" {
  for_each = { x = 1, y = 2 }
  name     = "${each.key} ${local.l}"
}
locals {
  l = "l"
}
`)
	e := eval.New(t.Context(), w)
	r := w.Config.Root.Resources[addrs.Resource{Mode: addrs.Managed, Type: "t_x", Name: "a"}]
	instances, _ := e.ResourceInstances(addrs.RootModuleInstance, r)
	attrs, _ := r.Body.JustAttributes()
	var got []string
	for i := range instances {
		ctx, ds := e.BlockContext(r, eval.Scope{Instance: &instances[i]})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		v, hs := attrs["name"].Expr.Value(ctx)
		if hs.HasErrors() {
			t.Fatal(hs)
		}
		got = append(got, v.AsString())
	}
	if diff := cmp.Diff([]string{"x l", "y l"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	a, _ := e.BlockContext(r, eval.Scope{Instance: &instances[0]})
	b, _ := e.BlockContext(r, eval.Scope{Instance: &instances[1]})
	if a.Parent() == nil || a.Parent() != b.Parent() {
		t.Error("the instances do not share what does not depend on them")
	}
}

// TestContextsAreNotTouched: blocks that mention the same names share a context, and a rule
// of a variable, which may mention nothing else, adds its variable to its own.
func TestContextsAreNotTouched(t *testing.T) {
	t.Parallel()
	const n = 200
	text := "resource \"t_x\" \"a\" {\n  name = \"a\"\n}\n"
	for i := range n {
		text += fmt.Sprintf("variable \"v%d\" {\n  default = \"x\"\n  validation {\n    condition     = var.v%[1]d == \"x\"\n    error_message = \"No.\"\n  }\n}\n", i)
	}
	w := world(t, text)
	e := eval.New(t.Context(), w)
	r := w.Config.Root.Resources[addrs.Resource{Mode: addrs.Managed, Type: "t_x", Name: "a"}]
	ctx, ds := e.BlockContext(r, eval.Scope{})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	before := len(ctx.Variables)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if _, ds := e.Variable(addrs.RootModuleInstance, fmt.Sprintf("v%d", i)); ds.HasErrors() {
				t.Error(ds)
			}
		})
	}
	all.Wait()
	if len(ctx.Variables) != before {
		t.Errorf("the context of a block has come to know %v", slices.Sorted(maps.Keys(ctx.Variables)))
	}
}

// TestForce evaluates what nobody uses, but for what is to be left out.
func TestForce(t *testing.T) {
	t.Parallel()
	w := world(t, `
locals {
  unused = upper([])
  left   = lower([])
}
output "used" { value = local.good }
locals {
  good = 1
}
`)
	e := eval.New(t.Context(), w)
	e.Force(func(o addrs.Object) bool { return o.Name == "left" })
	if got, want := summaries(e.Diagnostics()), "main.tf:3: Invalid function argument"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestForceLeavesModulesOut holds that the instances of a module are not asked for where none of its
// values are: the count of its call may be out of this run.
func TestForceLeavesModulesOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ module, skip, want string }{
		{"variable \"v\" {\n  default = 1\n}\nlocals {\n  l = 1\n}\n", "v l", ""},
		{"variable \"v\" {\n  default = 1\n}\nlocals {\n  l = 1\n}\n", "v", "main.tf:2: Invalid function argument"},
		{"output \"o\" {\n  value = 1\n}\n", "o", ""},
		{"locals {\n  l = 1\n}\n", "l m", ""},
		{"locals {\n  l = 1\n}\n", "m", "main.tf:2: Invalid function argument"},
		{"# nothing\n", "m", ""},
		{"# nothing\n", "", "main.tf:2: Invalid function argument"},
	} {
		w := world(t, "module \"m\" {\n  count  = upper([])\n  source = \"./m\"\n}\n-- m/main.tf --\n"+c.module)
		e := eval.New(t.Context(), w)
		e.Force(func(o addrs.Object) bool { return slices.Contains(strings.Fields(c.skip), o.Name) })
		if got := summaries(e.Diagnostics()); got != c.want {
			t.Errorf("%q without %s: %q, want %q", c.module, c.skip, got, c.want)
		}
	}
}

// TestUndeclaredNeeds makes sure that an expression cannot reach what the reference
// graph does not know of: that would be our bug.
func TestUndeclaredNeeds(t *testing.T) {
	t.Parallel()
	w := world(t, "locals {\n  a = 1\n}\n")
	e := eval.New(t.Context(), w)
	defer func() {
		if recover() == nil {
			t.Error("a module instance that was never expanded has a value")
		}
	}()
	in, _ := addrs.ParseModuleInstance("module.nothing")
	if v, _ := e.Local(in, "a"); v != cty.NilVal {
		t.Log(v)
	}
}
