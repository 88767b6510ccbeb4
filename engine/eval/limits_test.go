package eval_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
)

// TestTooManyInstances expands blocks within a budget of three instances for each, and of four for
// all.
func TestTooManyInstances(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		repetition string
		unexpanded bool
		want       bool
	}{
		{"count = 3", false, true},
		{"count = 4", false, false},
		{"count = 4", true, true},
		{"for_each = { a = 1, b = 2, c = 3 }", false, true},
		{"for_each = { a = 1, b = 2, c = 3, d = 4 }", false, false},
		{"for_each = { a = 1, b = 2, c = 3, d = 4 }", true, true},
		{`for_each = toset(["a", "b", "c", "d"])`, false, false},
		{`for_each = toset(["a", "b", "c", "d"])`, true, true},
	} {
		w := world(t, "resource \"t_x\" \"a\" {\n  "+c.repetition+"\n}\nresource \"t_x\" \"other\" {\n  count = 2\n}\n")
		limits := budget.Generous().Limits()
		limits.Instances, limits.AllInstances = 3, 4
		w.Budget, w.Unexpanded = budget.New(limits), c.unexpanded
		e := eval.New(t.Context(), w)
		expand := func(name string) diags.Diagnostics {
			_, ds := e.ResourceInstances(addrs.RootModuleInstance, w.Config.Root.Resources[addrs.Resource{Mode: addrs.Managed, Type: "t_x", Name: name}])
			return ds
		}
		ds := expand("a")
		if ds.HasErrors() == c.want {
			t.Errorf("%s, unexpanded %v: %v", c.repetition, c.unexpanded, ds)
		}
		if ds.HasErrors() && ds[0].Expression == nil {
			t.Errorf("%s: the error has no expression to show the values of", c.repetition)
		}
		if !c.want {
			continue
		}
		if ds := expand("a"); ds.HasErrors() {
			t.Errorf("%s: it counts twice: %v", c.repetition, ds)
		}
		if ds := expand("other"); ds.HasErrors() == c.unexpanded {
			t.Errorf("%s and two more, unexpanded %v: %v", c.repetition, c.unexpanded, ds)
		}
	}
}

// TestTooManyImports expands the for_each of an import block within a budget of three instances.
func TestTooManyImports(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		each       string
		unexpanded bool
		want       int // -1 for an error
	}{
		{`[1, 2, 3]`, false, 3},
		{`[1, 2, 3, 4]`, false, -1},
		{`[1, 2, 3, 4]`, true, 4},
	} {
		w := world(t, "locals {\n  each = "+c.each+"\n}\n")
		limits := budget.Generous().Limits()
		limits.Instances = 3
		w.Budget, w.Unexpanded = budget.New(limits), c.unexpanded
		list, ds := eval.New(t.Context(), w).ImportForEach(w.Config.Root.Locals["each"].Expr, eval.Scope{})
		if ds.HasErrors() != (c.want < 0) || len(list) != max(c.want, 0) {
			t.Errorf("%s, unexpanded %v: %d instances, %v", c.each, c.unexpanded, len(list), ds)
		}
	}
}

// TestTooManyPlannedInstances holds that instances of a plan are not counted again: a plan that
// could be made can be applied.
func TestTooManyPlannedInstances(t *testing.T) {
	t.Parallel()
	w := world(t, "resource \"t_x\" \"a\" {\n  for_each = { a = 1, b = 2, c = 3, d = 4 }\n}\n")
	limits := budget.Generous().Limits()
	limits.Instances = 3
	w.Budget = budget.New(limits)
	w.ResourceKeys = func(addrs.AbsResource) ([]addrs.InstanceKey, bool) {
		return []addrs.InstanceKey{addrs.StringKey("a")}, true
	}
	if got, want := ask(t, w, eval.New(t.Context(), w), "t_x.a"), `instances ["a"]=1`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestPlaces holds that the budget knows the expression under evaluation by its name and place, and
// none when all is evaluated.
func TestPlaces(t *testing.T) {
	t.Parallel()
	w := world(t, `locals {
  l = where()
}
output "o" {
  value = where()
  precondition {
    condition     = where() != local.l
    error_message = where()
  }
}
resource "t_x" "a" {
  for_each = { k = where() }
}
module "m" {
  source = "./m"
  v      = where()
}
-- m/main.tf --
variable "v" {
  validation {
    condition     = var.v != where()
    error_message = where()
  }
}
locals {
  l = where()
}
`)
	w.Budget = budget.Generous()
	w.Functions = maps.Clone(w.Functions)
	var places []string
	w.Functions["where"] = function.New(&function.Spec{
		Type: function.StaticReturnType(cty.String),
		Impl: func([]cty.Value, cty.Type) (cty.Value, error) {
			places = append(places, w.Budget.Place())
			return cty.StringVal(w.Budget.Place()), nil
		},
	})
	e := eval.New(t.Context(), w)
	for _, c := range []struct{ name, want string }{
		{"local.l", "local.l at main.tf:2"},
		{"output.o", "main.tf:7, main.tf:8, output.o at main.tf:5"},
		{"t_x.a", "main.tf:12"},
		{"module.m.var.v", "module.m.var.v at main.tf:16, m/main.tf:3, m/main.tf:4"},
		{"module.m.local.l", "module.m.local.l at m/main.tf:8"},
	} {
		places = nil
		ask(t, w, e, c.name)
		if got := strings.Join(places, ", "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if p := w.Budget.Place(); p != "" {
		t.Errorf("%s is under evaluation after all", p)
	}
}

// TestSpentBudget is a table of limits, and of the error of an expression that passes them. The budget
// knows of it even where try() has made a value of the error.
func TestSpentBudget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		expression string
		steps      int64
		values     int64
		want       string
		passed     bool
	}{
		{`1 + 2`, 1000, 1000, "3", false},
		{`1 + 2`, 1, 1000, "3", false},
		{`1 + 2`, 0, 1000, "error: Evaluation takes too long", true},
		{`[for x in [1, 2, 3] : x]`, 1000, 1000, "[1, 2, 3]", false},
		{`[1, 2, 3, 4]`, 1000, 3, "error: Value too large", true},
		{`try([for x in range(1000) : x], "too large")`, 1000, 100, "error: Value too large", true},
	} {
		w := world(t, "locals {\n  l = "+c.expression+"\n}\n")
		limits := budget.Generous().Limits()
		limits.Steps, limits.Values = c.steps, c.values
		w.Budget = budget.New(limits)
		e := eval.New(t.Context(), w)
		got := ask(t, w, e, "local.l")
		if ds := e.Diagnostics(); len(ds) > 0 {
			got += ": " + ds[0].Summary
		}
		if got != c.want || (w.Budget.First() != nil) != c.passed {
			t.Errorf("%s: %s (%v), want %s", c.expression, got, w.Budget.First(), c.want)
		}
	}
}
