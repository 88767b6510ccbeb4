package eval_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/schematest"
)

// TestUnexpandedInstances is a table of repetitions, and of the one instance that stands for all where
// nothing is expanded yet: the names that it knows, and their values.
func TestUnexpandedInstances(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ repetition, want string }{
		{`count = 2`, `count.index=unknown`},
		{`count = t_x.b.id`, `count.index=unknown`},
		{`for_each = { a = 1 }`, `each.key=unknown each.value=unknown`},
		{`for_each = toset(["b"])`, `each.key=unknown each.value=unknown`},
		{`for_each = t_x.b.id`, `each.key=unknown each.value=unknown`},
		{"lifecycle {\n    enabled = t_x.b.id\n  }", ``},
		{"lifecycle {\n    enabled = false\n  }", ``},
		{``, ``},
	} {
		w := world(t, "resource \"t_x\" \"a\" {\n  "+c.repetition+"\n}\nresource \"t_x\" \"b\" {}\n-- resources --\nt_x.b = { id = unknown }\n")
		w.Unexpanded = true
		e := eval.New(t.Context(), w)
		instances, ds := e.ResourceInstances(addrs.RootModuleInstance, w.Config.Root.Resources[addrs.Resource{Mode: addrs.Managed, Type: "t_x", Name: "a"}])
		if ds.HasErrors() || len(instances) != 1 {
			t.Fatalf("%s: %d instances, %v", c.repetition, len(instances), ds)
		}
		if got := seen(t, instances[0]); got != c.want {
			t.Errorf("%s: %s, want %s", c.repetition, got, c.want)
		}
	}
}

// seen returns the names that an instance's expressions know, with their values.
func seen(t *testing.T, i eval.Instance) string {
	t.Helper()
	var got []string
	for _, path := range []string{"each.key", "each.value", "count.index"} {
		if v, hs := expression(t, path).Value(&hcl.EvalContext{Variables: i.Variables()}); !hs.HasErrors() {
			got = append(got, path+"="+schematest.Plain(v))
		}
	}
	return strings.Join(got, " ")
}

func expression(t *testing.T, text string) hcl.Expression {
	t.Helper()
	x, hs := hclsyntax.ParseExpression([]byte(text), "", hcl.InitialPos)
	if hs.HasErrors() {
		t.Fatal(hs)
	}
	return x
}

// TestUnexpandedImport is the same of the for_each of an import block.
func TestUnexpandedImport(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ each, want string }{
		{`t_x.b.id`, `each.key=unknown each.value=unknown`},
		{`{ a = t_x.b.id }`, `each.key=unknown each.value=unknown`},
		{`["a"]`, `each.key=0 each.value="a"`},
	} {
		w := world(t, "resource \"t_x\" \"b\" {}\nlocals {\n  each = "+c.each+"\n}\n-- resources --\nt_x.b = { id = unknown }\n")
		w.Unexpanded = true
		instances, ds := eval.New(t.Context(), w).ImportForEach(w.Config.Root.Locals["each"].Expr, eval.Scope{})
		if ds.HasErrors() || len(instances) != 1 {
			t.Fatalf("%s: %d instances, %v", c.each, len(instances), ds)
		}
		if got := seen(t, instances[0]); got != c.want {
			t.Errorf("%s: %s, want %s", c.each, got, c.want)
		}
	}
}

// TestUnexpandedCalls holds that of a repeated call without instances the type is known.
func TestUnexpandedCalls(t *testing.T) {
	t.Parallel()
	for repetition, want := range map[string]string{
		`count = 2`:            "list of object",
		`for_each = { a = 1 }`: "map of object",
		``:                     "object",
	} {
		w := world(t, "module \"m\" {\n  source = \"./m\"\n  "+repetition+"\n}\nlocals {\n  l = module.m\n}\n-- m/main.tf --\noutput \"o\" { value = 1 }\n")
		w.Unexpanded = true
		e := eval.New(t.Context(), w)
		e.Modules(w.Config.Modules[addrs.NewModule("m")])
		v, ds := e.Local(addrs.RootModuleInstance, "l")
		if got := v.Type().FriendlyName(); got != want || ds.HasErrors() {
			t.Errorf("%s: %s, want %s (%v)", repetition, got, want, ds)
		}
	}
}

// TestPlannedKeyIsMissing holds that an instance of the plan which its for_each does not make any more is
// an error, and never left out in silence.
func TestPlannedKeyIsMissing(t *testing.T) {
	t.Parallel()
	w := world(t, "resource \"t_x\" \"a\" {\n  for_each = { a = 1 }\n}\n")
	w.ResourceKeys = func(addrs.AbsResource) ([]addrs.InstanceKey, bool) {
		return []addrs.InstanceKey{addrs.StringKey("a"), addrs.StringKey("b")}, true
	}
	_, ds := eval.New(t.Context(), w).ResourceInstances(addrs.RootModuleInstance, w.Config.Root.Resources[addrs.Resource{Mode: addrs.Managed, Type: "t_x", Name: "a"}])
	if !ds.HasErrors() || !strings.Contains(ds[0].Detail, `["b"]`) || ds[0].Expression == nil {
		t.Errorf("%v", ds)
	}
}

// TestPlannedKeysOfSets holds that the instances of a set are those of the plan, whatever the set has
// become since.
func TestPlannedKeysOfSets(t *testing.T) {
	t.Parallel()
	for _, set := range []string{`["a", "b"]`, `["a"]`, `["a", "z"]`, `[]`, `[t_x.one.id]`} {
		w := world(t, "resource \"t_x\" \"one\" {}\nmodule \"m\" {\n  source = \"./m\"\n  for_each = toset("+set+")\n}\nresource \"t_x\" \"a\" {\n  for_each = toset("+set+")\n}\n-- m/main.tf --\noutput \"o\" { value = 1 }\n-- resources --\nt_x.one = { id = unknown }\n")
		keys := []addrs.InstanceKey{addrs.StringKey("a"), addrs.StringKey("b")}
		w.ResourceKeys = func(a addrs.AbsResource) ([]addrs.InstanceKey, bool) { return keys, a.Resource.Name == "a" }
		w.CallKeys = func(addrs.ModuleInstance, string) ([]addrs.InstanceKey, bool) { return keys, true }
		e := eval.New(t.Context(), w)
		for name, want := range map[string]string{
			"t_x.a": `instances ["a"]="a" ["b"]="b"`, "module.m": `instances ["a"]="a" ["b"]="b"`, `module.m["b"].output.o`: "1",
		} {
			if got := ask(t, w, e, name); got != want {
				t.Errorf("toset(%s): %s = %s, want %s", set, name, got, want)
			}
		}
	}
}

// TestTyped is a table of expressions that a person types in.
func TestTyped(t *testing.T) {
	t.Parallel()
	w := world(t, "locals {\n  l = 1\n}\nresource \"t_x\" \"a\" {}\n-- resources --\nt_x.a = { id = \"i\" }\n")
	for text, want := range map[string]string{
		`local.l + 1`:                  `2`,
		`t_x.a.id`:                     `"i"`,
		`1 + 2`:                        `3`,
		`"${path.module} ${local.l}"`:  `". 1"`,
		`[for x in [1] : x + local.l]`: `[2]`,
		`local.none`:                   `error: Reference to undeclared local value`,
		`upper([])`:                    `error: Invalid function argument`,
	} {
		v, ds := eval.New(t.Context(), w).Typed(expression(t, text), eval.Scope{})
		got := schematest.Plain(v)
		if ds.HasErrors() {
			got = "error: " + ds[0].Summary
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestVariablesWithErrors holds that the rules of a variable whose value has errors are in the record
// all the same, without a result, and that its error is reported once.
func TestVariablesWithErrors(t *testing.T) {
	t.Parallel()
	w := world(t, "variable \"v\" {\n  validation {\n    condition     = var.v == 1\n    error_message = \"no\"\n  }\n}\nlocals {\n  l = var.v\n}\n")
	w.InvalidVariables = map[string]diags.Diagnostics{"v": diags.Errorf(nil, "Invalid value for input variable", "")}
	e := eval.New(t.Context(), w)
	got := []string{ask(t, w, e, "var.v"), ask(t, w, e, "local.l"), summaries(e.Diagnostics())}
	for _, c := range e.Checks() {
		got = append(got, c.Kind+" "+c.Config+" "+c.Object+" "+string(c.Status))
	}
	want := []string{"error", "error", "Invalid value for input variable", "var var.v var.v unknown"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestSubjects holds the addresses under which results of conditions are recorded.
func TestSubjects(t *testing.T) {
	t.Parallel()
	w := world(t, `
module "m" {
  source = "./m"
  count  = 1
  v      = 1
}
output "o" {
  value = 1
  precondition {
    condition     = local.one == 1
    error_message = "no"
  }
}
locals {
  one = 1
}
-- m/main.tf --
variable "v" {
  validation {
    condition     = var.v == 1
    error_message = "no"
  }
}
output "o" {
  value = 1
  precondition {
    condition     = var.v == 1
    error_message = "no"
  }
}
`)
	e := eval.New(t.Context(), w)
	e.Force(func(addrs.Object) bool { return false })
	var got []string
	for _, c := range e.Checks() {
		got = append(got, c.Kind+" "+c.Config+" "+c.Object+" "+string(c.Status))
	}
	want := []string{
		"output_value module.m.output.o module.m[0].output.o pass",
		"var module.m.var.v module.m[0].var.v pass",
		"output_value output.o output.o pass",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
