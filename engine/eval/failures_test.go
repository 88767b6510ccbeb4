package eval_test

import (
	"context"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/schematest"
)

// failing are configurations with errors, each of which is reported once, whatever refers to it.
var failing = []struct{ name, files, want, errors string }{
	{"an output of the root module that is ephemeral", `
output "o" {
  value     = 1
  ephemeral = true
}
`, `
output.o = error
`, `main.tf:2: Ephemeral output not allowed`},
	{"an output with a precondition, whose value has an error: the precondition has no result", `
locals {
  bad  = upper([])
  good = "x"
}
output "one" {
  value = local.bad
  precondition {
    condition     = local.good == "y"
    error_message = "never"
  }
}
output "without" { value = local.bad }
output "condition" {
  value = 1
  precondition {
    condition     = local.bad == "y"
    error_message = "never"
  }
}
output "message" {
  value = 1
  precondition {
    condition     = local.good == "y"
    error_message = local.bad
  }
}
`, `
output.one = error
output.without = error
output.condition = error
output.message = error
`, `main.tf:3: Invalid function argument`},
	{"rules of variables, whose references have errors", `
locals {
  bad = upper([])
}
variable "a" {
  default = 1
  validation {
    condition     = local.bad == var.a
    error_message = "never"
  }
}
variable "b" {
  default = 1
  validation {
    condition     = var.b == 2
    error_message = local.bad
  }
}
locals {
  a = var.a
}
`, `
var.a = error
var.b = error
local.a = error
`, `main.tf:3: Invalid function argument`},
	{"the number of modules, and what refers to them", `
locals {
  bad = upper([])
}
module "count" {
  source = "./m"
  count  = local.bad
}
module "each" {
  source   = "./m"
  for_each = local.bad
}
module "argument" {
  source = "./m"
  name   = local.bad
}
locals {
  count    = module.count[0].o
  whole    = module.each
  argument = module.argument.name
  fine     = module.argument.o
}
-- m/main.tf --
variable "name" { default = "" }
output "o" { value = 1 }
output "name" { value = var.name }
`, `
module.count = error
module.each = error
local.count = error
local.whole = error
local.argument = error
local.fine = 1
`, `main.tf:3: Invalid function argument`},
	{"resources, and what refers to them", `
resource "t_x" "a" { count = upper([]) }
resource "t_x" "b" {}
locals {
  a = t_x.a
  b = t_x.b.id
  c = [local.b, local.b]
}
`, `
t_x.a = error
local.b = error
local.c = error
`, `No value for t_x.b`},
}

func TestFailing(t *testing.T) {
	t.Parallel()
	for _, c := range failing {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			expect(t, world(t, c.files), c.want, c.errors)
		})
	}
}

// TestModuleThatWasNotLoaded holds that nothing is said of a module that could not be loaded, or of what
// refers to it: loading has said why.
func TestModuleThatWasNotLoaded(t *testing.T) {
	t.Parallel()
	w := world(t, "module \"m\" { source = \"./m\" }\nlocals {\n  l = module.m.o\n  all = module.m\n}\n-- m/main.tf --\noutput \"o\" { value = 1 }\n")
	delete(w.Config.Root.Children, "m")
	w.Config.Order = w.Config.Order[:1]
	expect(t, w, "local.l = error\nlocal.all = error\nmodule.m = error\n", "")
}

// TestArgumentThatIsMissing holds that nothing is said of a variable without a value: the configuration
// was refused for it.
func TestArgumentThatIsMissing(t *testing.T) {
	t.Parallel()
	w := world(t, "module \"m\" { source = \"./m\" }\n-- m/main.tf --\nvariable \"v\" { default = 1 }\nlocals {\n  l = var.v\n}\n")
	w.Config.Root.Children["m"].Variables["v"].Default = cty.NilVal
	expect(t, w, "module.m.var.v = error\nmodule.m.local.l = error\n", "")
}

// TestValueBesideErrors holds that a value with errors is unknown, rather than none, for whoever
// goes on in spite of them.
func TestValueBesideErrors(t *testing.T) {
	t.Parallel()
	w := world(t, "locals {\n  bad = upper([])\n}\noutput \"o\" { value = local.bad }\nvariable \"v\" {\n  default = 1\n  validation {\n    condition     = local.bad == var.v\n    error_message = \"no\"\n  }\n}\n")
	e := eval.New(t.Context(), w)
	for range 2 {
		l, _ := e.Local(addrs.RootModuleInstance, "bad")
		o, _ := e.Output(addrs.RootModuleInstance, "o")
		if l != cty.DynamicVal || o != cty.DynamicVal {
			t.Errorf("%#v, %#v", l, o)
		}
	}
}

// TestResultsOfFailures holds that the conditions of an output have no results if its value, or
// they, refer to an error.
func TestResultsOfFailures(t *testing.T) {
	t.Parallel()
	w := world(t, failing[1].files)
	e := eval.New(t.Context(), w)
	e.Force(func(addrs.Object) bool { return false })
	var got []string
	for _, c := range e.Checks() {
		got = append(got, c.Config+" "+string(c.Status))
	}
	if text := strings.Join(got, ", "); text != "" {
		t.Error(text)
	}
}

// TestReady is a table of what the block of a resource refers to: an error in any of it leaves the
// block without instances to plan.
func TestReady(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		block string
		want  bool
	}{
		{``, true},
		{`name = local.bad`, false},
		{"lifecycle {\n precondition {\n condition = local.bad == 1\n error_message = \"no\"\n }\n }", false},
		{"lifecycle {\n precondition {\n condition = local.good == 1\n error_message = local.bad\n }\n }", false},
		{"lifecycle {\n postcondition {\n condition = local.bad == 1\n error_message = \"no\"\n }\n }", false},
		{"lifecycle {\n postcondition {\n condition = local.good == 1\n error_message = \"no\"\n }\n }", true},
	} {
		w := world(t, "resource \"t_x\" \"a\" {\n  "+c.block+"\n}\nlocals {\n  bad = upper([])\n  good = 1\n}\n")
		e := eval.New(t.Context(), w)
		r := w.Config.Root.Resources[addrs.Resource{Mode: addrs.Managed, Type: "t_x", Name: "a"}]
		for range 2 {
			if ds := e.Ready(addrs.RootModuleInstance, r); ds.HasErrors() == c.want || len(ds.Unreported()) > 0 {
				t.Errorf("%s: %v", c.block, ds)
			}
		}
		if _, ds := e.BlockContext(r, eval.Scope{}); ds.HasErrors() != strings.HasPrefix(c.block, "name") {
			t.Errorf("%s: %v", c.block, ds)
		}
	}
}

// TestDetached holds that an expression of an object whose module is gone sees that object alone.
func TestDetached(t *testing.T) {
	t.Parallel()
	w := world(t, "resource \"t_x\" \"a\" {\n  name = \"x\"\n}\nlocals {\n  l = 1\n}\n")
	e := eval.New(t.Context(), w)
	in := eval.Instance{Key: addrs.StringKey("k"), HasEach: true, Value: cty.DynamicVal}
	ctx := e.Detached(w.Config.Root, eval.Scope{Instance: &in, Self: cty.StringVal("me"), Extra: map[string]cty.Value{"more": cty.True}})
	for text, want := range map[string]string{
		`self`: `"me"`, `each.key`: `"k"`, `each.value`: `unknown`, `more`: `true`, `upper("x")`: `"X"`, `path.module`: `"."`,
		`local.l`: `error`, `count.index`: `error`,
	} {
		got := "error"
		if v, hs := expression(t, text).Value(ctx); !hs.HasErrors() {
			got = schematest.Plain(v)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestFunctionsOfModules holds that a module calls its own functions, and the common ones only where it
// has none of its own.
func TestFunctionsOfModules(t *testing.T) {
	t.Parallel()
	w := world(t, "locals {\n  own = upper(\"x\")\n}\nmodule \"m\" { source = \"./m\" }\n-- m/main.tf --\nlocals {\n  own = upper(\"x\")\n}\n")
	w.ModuleFunctions = func(m *config.Module) map[string]function.Function {
		if m.Addr == addrs.RootModule {
			return map[string]function.Function{"upper": stdlib.LowerFunc}
		}
		return nil
	}
	expect(t, w, "local.own = \"x\"\nmodule.m.local.own = \"X\"\n", "")
}

// TestForEach is a table of for_each arguments outside of blocks.
func TestForEach(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{ b = 2, a = 1 }`:   `["a"] ["b"]`,
		`toset(["a"])`:       `["a"]`,
		`{}`:                 ``,
		`["a"]`:              `error: Invalid for_each argument`,
		`{ (local.k) = 1 }`:  `["k"]`,
		`t_x.a`:              `error: Invalid for_each argument`,
		`toset([t_x.a.id])`:  `error: Invalid for_each argument`,
		`toset([upper([])])`: `error: Invalid function argument`,
	} {
		w := world(t, "locals {\n  k = \"k\"\n  x = "+text+"\n}\nresource \"t_x\" \"a\" {}\n-- resources --\nt_x.a = { id = unknown }\n")
		if text == "t_x.a" {
			w = world(t, "locals {\n  x = "+text+"\n}\nresource \"t_x\" \"a\" {}\n-- resources --\nt_x.a = unknown\n")
		}
		list, ds := eval.New(t.Context(), w).ForEach(w.Config.Root.Locals["x"].Expr, eval.Scope{})
		var got []string
		for _, i := range list {
			got = append(got, i.Key.String())
		}
		line := strings.Join(got, " ")
		if ds.HasErrors() {
			line = "error: " + ds[0].Summary
		}
		if line != want {
			t.Errorf("%s: %s, want %s", text, line, want)
		}
	}
}

// TestPlannedKeysOfMaps holds that the keys of an unknown map are those of the plan, and that blocks
// which the plan does not know are expanded as ever.
func TestPlannedKeysOfMaps(t *testing.T) {
	t.Parallel()
	w := world(t, "resource \"t_x\" \"one\" {}\nresource \"t_x\" \"a\" {\n  for_each = t_x.one\n}\nresource \"t_x\" \"b\" { count = 1 }\nmodule \"m\" {\n  source = \"./m\"\n  count  = 1\n}\n-- m/main.tf --\noutput \"o\" { value = 1 }\n-- resources --\nt_x.one = unknown\n")
	w.ResourceKeys = func(a addrs.AbsResource) ([]addrs.InstanceKey, bool) {
		return []addrs.InstanceKey{addrs.StringKey("k")}, a.Resource.Name == "a"
	}
	w.CallKeys = func(addrs.ModuleInstance, string) ([]addrs.InstanceKey, bool) { return nil, false }
	expect(t, w, "t_x.a = instances [\"k\"]=unknown\nt_x.b = instances [0]\nmodule.m = instances [0]\n", "")
}

// TestWarningsOfResources is a table of expressions that refer to a resource whose value comes with a
// warning: it comes along with the value of the expression.
func TestWarningsOfResources(t *testing.T) {
	t.Parallel()
	for _, block := range []string{
		`count = t_x.b.number`,
		`for_each = toset([t_x.b.text])`,
		"lifecycle {\n    enabled = t_x.b.yes\n  }",
		"lifecycle {\n    enabled = !t_x.b.yes\n  }",
		`name = local.l`,
		`name = module.m.o`,
		`name = t_x.b.text`,
	} {
		w := world(t, "resource \"t_x\" \"a\" {\n  "+block+"\n}\nresource \"t_x\" \"b\" {}\nlocals {\n  l = t_x.b.text\n}\nmodule \"m\" {\n  source = \"./m\"\n  v = t_x.b.none\n}\n-- m/main.tf --\nvariable \"v\" {\n  nullable = false\n  default = 1\n}\noutput \"o\" { value = var.v }\n")
		w.Resource = func(context.Context, addrs.AbsResource, []addrs.InstanceKey) (cty.Value, diags.Diagnostics) {
			return parse(t, `{ number = 1, text = "x", yes = true, none = null }`), diags.Warningf(nil, "An old object", "")
		}
		e := eval.New(t.Context(), w)
		e.Modules(w.Config.Modules[addrs.NewModule("m")])
		r := w.Config.Root.Resources[addrs.Resource{Mode: addrs.Managed, Type: "t_x", Name: "a"}]
		_, ds := e.ResourceInstances(addrs.RootModuleInstance, r)
		_, more := e.BlockContext(r, eval.Scope{})
		ds = append(append(ds, more...), e.Diagnostics()...)
		if got := summaries(ds); got != "An old object" {
			t.Errorf("%s: %q", block, got)
		}
	}
}

// TestFailed holds that a failure which is none of a condition counts as one of its object.
func TestFailed(t *testing.T) {
	t.Parallel()
	e := eval.New(t.Context(), world(t, ""))
	about, other := eval.Subject{Kind: eval.KindCheck, Config: "check.a", Object: "check.a"}, eval.Subject{Kind: eval.KindCheck, Config: "check.b", Object: "check.b"}
	e.Declare(other, 1)
	if e.Fails(about) {
		t.Error("it fails before anything was recorded")
	}
	e.Failed(about, "the data could not be read")
	if !e.Fails(about) || e.Fails(other) {
		t.Error("the wrong object fails")
	}
	for _, c := range e.Checks() {
		if c.Subject == about && (c.Status != eval.Fail || strings.Join(c.Failures, "") != "the data could not be read") {
			t.Errorf("%+v", c)
		}
	}
}

// TestForceReports holds that errors about the number of a module's instances are returned as well.
func TestForceReports(t *testing.T) {
	t.Parallel()
	w := world(t, "module \"m\" {\n  source = \"./m\"\n  count  = -1\n}\n-- m/main.tf --\noutput \"o\" { value = 1 }\n")
	e := eval.New(t.Context(), w)
	ds := e.Force(func(addrs.Object) bool { return false })
	if text := summaries(append(ds.Unreported(), e.Diagnostics()...)); text != "main.tf:3: Invalid count argument" {
		t.Error(text)
	}
	if !ds.HasErrors() {
		t.Error("the errors of the modules are not returned")
	}
}

// TestExplanations is a table of arguments that repeat a block, and of what an error about them says for
// a reader who is shown the values: the cause, and the context with the values.
func TestExplanations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		argument string
		cause    any
		context  bool
	}{
		{`for_each = toset([t_x.b.id])`, diags.Cause{Unknown: true}, true},
		{`for_each = t_x.b.id`, diags.Cause{Unknown: true}, true},
		{`for_each = toset(t_x.b.id)`, diags.Cause{Unknown: true}, true},
		{`for_each = sensitive({ a = local.x })`, diags.Cause{Sensitive: true}, true},
		{`for_each = [local.x]`, nil, true},
		{`for_each = toset([1, local.x])`, nil, true},
		{`for_each = local.none`, nil, true},
		{`count = local.x - 2`, nil, false},
		{`count = local.none`, nil, false},
	} {
		w := world(t, "resource \"t_x\" \"a\" {\n  "+c.argument+"\n}\nresource \"t_x\" \"b\" {}\nlocals {\n  x = 1\n  none = null\n}\n-- resources --\nt_x.b = { id = unknown }\n")
		r := w.Config.Root.Resources[addrs.Resource{Mode: addrs.Managed, Type: "t_x", Name: "a"}]
		_, ds := eval.New(t.Context(), w).ResourceInstances(addrs.RootModuleInstance, r)
		if len(ds) != 1 {
			t.Fatalf("%s: %v", c.argument, ds)
		}
		if d := ds[0]; d.Extra != c.cause || (d.EvalContext != nil) != c.context || d.Expression == nil || d.Subject == nil || d.Subject.Start.Line != 2 {
			t.Errorf("%s: %#v", c.argument, d)
		}
	}
}

// TestExplainedConditions holds that an error about a condition has the condition and its values.
func TestExplainedConditions(t *testing.T) {
	t.Parallel()
	for _, condition := range []string{"var.v == local.two", "var.v == 1 ? null : null", "var.v == 1 ? [] : []"} {
		w := world(t, "variable \"v\" {\n  default = 1\n  validation {\n    condition     = "+condition+"\n    error_message = \"no\"\n  }\n}\nlocals {\n  two = 2\n}\n"+
			"resource \"t_x\" \"a\" {\n  lifecycle {\n    precondition {\n      condition     = "+strings.ReplaceAll(condition, "var.v", "local.one")+"\n      error_message = \"no\"\n    }\n  }\n}\nlocals {\n  one = 1\n}\n")
		e := eval.New(t.Context(), w)
		e.Variable(addrs.RootModuleInstance, "v")
		r := w.Config.Root.Resources[addrs.Resource{Mode: addrs.Managed, Type: "t_x", Name: "a"}]
		ds := append(e.Diagnostics(), e.Conditions(r.Preconditions, eval.Scope{}, eval.Subject{Kind: "resource", Config: "t_x.a", Object: "t_x.a"}, "failed")...)
		if len(ds) != 2 {
			t.Fatalf("%s: %v", condition, ds)
		}
		for i, x := range []any{w.Config.Root.Variables["v"].Validations[0].Condition, r.Preconditions[0].Condition} {
			if ds[i].Expression != x || ds[i].EvalContext == nil {
				t.Errorf("%s: %#v", condition, ds[i])
			}
		}
	}
}
