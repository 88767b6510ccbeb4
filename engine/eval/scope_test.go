package eval_test

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
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
