package parsing_test

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/parsing"
)

// TestConstantCalls counts the calls of functions in an expression that is evaluated three times, as it is for
// three instances of a block.
func TestConstantCalls(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		calls int
	}{
		{`upper("a")`, 1},
		{`upper(lower("A${"b"}c"))`, 2},
		{`upper(join("-", ["a", (lower("B"))]))`, 3},
		{`jsonencode({ a = "b", ("c") = [1, true, null], "${"d"}" = {} })`, 1},
		{`upper("${v}")`, 3},
		{`upper(v)`, 3},
		{`[v, upper("a")]`, 1},
		{`jsonencode({ (v) = 1 })`, 3},
		{`upper(uuid())`, 6},
		{`"${upper("a")}${uuid()}"`, 4},
		{`upper([for x in ["a"] : x][0])`, 3},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			x, ds := parsing.Expression([]byte(c.text), "test.tf", hcl.InitialPos)
			if ds.HasErrors() {
				t.Fatal(ds)
			}
			calls := 0
			counting := function.New(&function.Spec{
				VarParam: &function.Parameter{Type: cty.DynamicPseudoType, AllowNull: true},
				Type:     function.StaticReturnType(cty.String),
				Impl: func([]cty.Value, cty.Type) (cty.Value, error) {
					calls++
					return cty.StringVal("x"), nil
				},
			})
			ctx := &hcl.EvalContext{Variables: map[string]cty.Value{"v": cty.StringVal("v")}, Functions: map[string]function.Function{}}
			budget.New(budget.Generous().Limits()).Put(ctx.Variables)
			for _, name := range []string{"upper", "lower", "join", "jsonencode", "uuid"} {
				ctx.Functions[name] = counting
			}
			for range 3 {
				if v, ds := x.Value(ctx); ds.HasErrors() || v == cty.NilVal {
					t.Fatal(v, ds)
				}
			}
			if calls != c.calls {
				t.Errorf("%d calls, want %d", calls, c.calls)
			}
		})
	}
}

// TestConstantErrors returns the error of a constant call each time.
func TestConstantErrors(t *testing.T) {
	t.Parallel()
	x, ds := parsing.Expression([]byte(`upper("a")`), "test.tf", hcl.InitialPos)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	for range 2 {
		if _, ds := x.Value(&hcl.EvalContext{Functions: map[string]function.Function{}}); !ds.HasErrors() {
			t.Error("a function that does not exist was called")
		}
	}
}
