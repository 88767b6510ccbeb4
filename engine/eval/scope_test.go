package eval_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/schematest"
)

// TestScopes is a table of expressions, of the scope that they stand in, and of their values.
func TestScopes(t *testing.T) {
	t.Parallel()
	scopes := map[string]eval.Scope{
		"nothing": {},
		"plain":   {Instance: &eval.Instance{}},
		"count":   {Instance: &eval.Instance{Key: addrs.IntKey(3), HasCount: true}},
		"each":    {Instance: &eval.Instance{Key: addrs.StringKey("k"), HasEach: true, Value: cty.True}},
		"extra":   {Extra: map[string]cty.Value{"each": cty.ObjectVal(map[string]cty.Value{"key": cty.Zero})}},
		"self":    {Self: cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("me")})},
	}
	const (
		noCount = `error: Reference to "count" in non-counted context`
		noEach  = `error: Reference to "each" in context without for_each`
		noSelf  = `error: Invalid "self" reference`
	)
	for _, c := range []struct{ scope, expression, want string }{
		{"nothing", "count.index", noCount},
		{"nothing", "each.key", noEach},
		{"nothing", "self.id", noSelf},
		{"plain", "count.index", noCount},
		{"plain", "each.key", noEach},
		{"count", "count.index", "3"},
		{"count", "each.key", noEach},
		{"count", "self.id", noSelf},
		{"each", "each.key", `"k"`},
		{"each", "each.value", "true"},
		{"each", "count.index", noCount},
		{"extra", "each.key", "0"},
		{"extra", "count.index", noCount},
		{"self", "self.id", `"me"`},
		{"self", "each.key", noEach},
	} {
		w := world(t, "")
		v, ds := eval.New(t.Context(), w).Expr(expression(t, c.expression), scopes[c.scope])
		got := schematest.Plain(v)
		if ds.HasErrors() {
			got = "error: " + ds[0].Summary
		}
		if got != c.want {
			t.Errorf("%s in the scope %s: %s, want %s", c.expression, c.scope, got, c.want)
		}
	}
}

// TestInstancesAskedFor is a table of expressions, and of the resources that they ask for: as a whole, or
// some of their instances.
func TestInstancesAskedFor(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string]string{
		`t_x.a`:                             "t_x.a all",
		`t_x.a[0]`:                          "t_x.a [[0]]",
		`[t_x.a[0], t_x.a[1]]`:              "t_x.a [[0] [1]]",
		`[t_x.a[0], t_x.a]`:                 "t_x.a all",
		`[t_x.a, t_x.a[0]]`:                 "t_x.a all",
		`[t_x.a, t_x.a]`:                    "t_x.a all",
		`[t_x.a[local.one], t_x.a[0]]`:      "t_x.a all",
		`[t_x.b[0], t_x.a[1], data.t_x.a]`:  "data.t_x.a all, t_x.a [[1]], t_x.b [[0]]",
		`[resource.t_x.b["k"], t_x.b["k"]]`: "t_x.b [[\"k\"] [\"k\"]]",
	} {
		w := world(t, "locals {\n  l = "+expr+"\n  one = 1\n}\nresource \"t_x\" \"a\" { count = 2 }\nresource \"t_x\" \"b\" { for_each = {} }\ndata \"t_x\" \"a\" {}\n")
		var got []string
		w.Resource = func(_ context.Context, a addrs.AbsResource, only []addrs.InstanceKey) (cty.Value, diags.Diagnostics) {
			what := "all"
			if only != nil {
				what = fmt.Sprint(only)
			}
			got = append(got, a.String()+" "+what)
			return cty.DynamicVal, nil
		}
		if _, ds := eval.New(t.Context(), w).Local(addrs.RootModuleInstance, "l"); ds.HasErrors() {
			t.Error(ds)
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%s: %s, want %s", expr, text, want)
		}
	}
}

// TestSharedContexts holds that blocks which refer to the same variables and local values have one
// context, and others have not, but the objects of their variables and local values.
func TestSharedContexts(t *testing.T) {
	t.Parallel()
	w := world(t, `
variable "v" { default = 1 }
locals {
  l   = 1
  m   = 2
  bad = upper([])
}
resource "t_x" "one" { name = "${local.l} ${local.m} ${var.v}" }
resource "t_x" "same" { name = "${var.v} ${local.l} ${local.m} ${local.l}" }
resource "t_x" "less" { name = "${local.l} ${var.v}" }
resource "t_x" "more" { name = "${var.v} ${local.l} ${local.m} ${t_x.none.id}" }
resource "t_x" "again" { name = "${var.v} ${local.l} ${local.m} ${t_x.none.id}" }
resource "t_x" "bad" { name = "${local.l} ${local.bad}" }
resource "t_x" "worse" { name = "${local.l} ${local.bad}" }
resource "t_x" "none" {}
-- resources --
t_x.none = { id = 1 }
`)
	e := eval.New(t.Context(), w)
	context := func(name string) *hcl.EvalContext {
		ctx, ds := e.BlockContext(w.Config.Root.Resources[addrs.Resource{Mode: addrs.Managed, Type: "t_x", Name: name}], eval.Scope{})
		if ds.HasErrors() != (ctx == nil) || len(ds.Unreported()) > 0 {
			t.Errorf("%s: %v, %v", name, ctx, ds)
		}
		return ctx
	}
	one := context("one")
	for name, want := range map[string]bool{"one": true, "same": true, "less": false, "more": false, "again": false, "none": false} {
		if got := context(name) == one; got != want {
			t.Errorf("%s and one share a context: %v", name, got)
		}
	}
	for _, root := range []string{"var", "local"} {
		object := func(name string) uintptr {
			return reflect.ValueOf(context(name).Variables[root]).FieldByName("v").Elem().Pointer()
		}
		if object("more") != object("again") || object("more") != object("one") {
			t.Errorf("the object %s is made more than once", root)
		}
	}
	for _, name := range []string{"bad", "worse", "bad"} {
		if context(name) != nil {
			t.Errorf("%s has a context in spite of errors", name)
		}
	}
	if len(e.Diagnostics()) != 1 {
		t.Error(e.Diagnostics())
	}
}
