package eval_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/schematest"
)

// TestVariablesOfInstances holds the names and values by which a block's expressions know their
// instance.
func TestVariablesOfInstances(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ repetition, want string }{
		{`for_each = { a = 1 }`, `each.key="a" each.value=1`},
		{`for_each = toset(["b"])`, `each.key="b" each.value="b"`},
		{`count = 2`, `count.index=0 count.index=1`},
		{``, ``},
	} {
		w := world(t, "resource \"t_x\" \"a\" {\n  "+c.repetition+"\n}\n")
		e := eval.New(t.Context(), w)
		r := w.Config.Root.Resources[addrs.Resource{Mode: addrs.Managed, Type: "t_x", Name: "a"}]
		instances, ds := e.ResourceInstances(addrs.RootModuleInstance, r)
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		var got []string
		for _, i := range instances {
			for _, path := range []string{"each.key", "each.value", "count.index"} {
				x, hs := hclsyntax.ParseExpression([]byte(path), "", hcl.InitialPos)
				if hs.HasErrors() {
					t.Fatal(hs)
				}
				if v, hs := x.Value(&hcl.EvalContext{Variables: i.Variables()}); !hs.HasErrors() {
					got = append(got, path+"="+schematest.Plain(v))
				}
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", c.repetition, text, c.want)
		}
	}
}

// TestWrongCounts is a table of counts, and of a part of the error about each.
func TestWrongCounts(t *testing.T) {
	t.Parallel()
	for count, want := range map[string]string{
		`1.5`:        "a whole number is required",
		`-1`:         "greater than or equal to zero",
		`-1e30`:      "greater than or equal to zero",
		`2147483648`: "cannot be so many",
		`1e30`:       "cannot be so many",
		`null`:       "is null",
		`"many"`:     "a number is required",
	} {
		w := world(t, "resource \"t_x\" \"a\" {\n  count = "+count+"\n}\n")
		_, ds := eval.New(t.Context(), w).ResourceInstances(addrs.RootModuleInstance, w.Config.Root.Resources[addrs.Resource{Mode: addrs.Managed, Type: "t_x", Name: "a"}])
		if len(ds) != 1 || !strings.Contains(ds[0].Detail, want) {
			t.Errorf("count = %s: %v, want %s", count, ds, want)
		}
	}
}

// TestImportForEach is a table of the for_each of an import block.
func TestImportForEach(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ expression, want string }{
		{`{ a = 1, b = 2 }`, `"a"=1 "b"=2`},
		{`toset(["a"])`, `"a"="a"`},
		{`["a", 1]`, `0="a" 1=1`},
		{`tolist([5])`, `0=5`},
		{`{}`, ``},
		{`null`, ``},
		{`sensitive({ a = 1 })`, `"a"=sensitive(1)`},
		{`1`, `error: a map, a set or a list is required`},
		{`{ a = var.pin }`, `error: derived from an ephemeral value`},
		{`upper([])`, `error: string required`},
		{`local.unknown`, `error: cannot be determined until apply`},
		{`{ a = local.unknown }`, `error: cannot be determined until apply`},
	} {
		w := world(t, "locals {\n  unknown = t_x.a.id\n  each = "+c.expression+"\n}\nvariable \"pin\" {\n  ephemeral = true\n  default = 1\n}\nresource \"t_x\" \"a\" {}\n-- resources --\nt_x.a = { id = unknown }\n")
		e := eval.New(t.Context(), w)
		instances, ds := e.ImportForEach(w.Config.Root.Locals["each"].Expr, eval.Scope{})
		var got []string
		for _, i := range instances {
			v := i.Variables()["each"]
			got = append(got, schematest.Plain(v.GetAttr("key"))+"="+schematest.Plain(v.GetAttr("value")))
		}
		text := strings.Join(got, " ")
		if ds.HasErrors() {
			text = "error: " + ds[0].Detail
		}
		if problem, ok := strings.CutPrefix(c.want, "error: "); ok && !strings.Contains(text, problem) || !ok && text != c.want {
			t.Errorf("%s: %s, want %s", c.expression, text, c.want)
		}
	}
}
