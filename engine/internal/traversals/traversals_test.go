package traversals_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/lockstep-iac/lockstep/engine/internal/traversals"
)

// parse returns a traversal written as text.
func parse(t *testing.T, text string) hcl.Traversal {
	t.Helper()
	out, ds := hclsyntax.ParseTraversalAbs([]byte(text), "t", hcl.InitialPos)
	if ds.HasErrors() {
		t.Fatal(text, ds)
	}
	return out
}

// TestTarget reads an address and prints it; an error is the column and the summary.
func TestTarget(t *testing.T) {
	t.Parallel()
	for _, line := range strings.Split(strings.TrimSpace(`
a_b.c                              -> a_b.c
resource.a_b.c                     -> a_b.c
data.a_b.c[0]                      -> data.a_b.c[0]
ephemeral.a.b                      -> ephemeral.a.b
module.m                           -> module.m
module.m["k"].module.n[2].a_b.c["x"] -> module.m["k"].module.n[2].a_b.c["x"]
module                             -> 1: Invalid address operator
module.m[1.5].a.b                  -> 9: Invalid address operator
a_b.c.d                            -> 6: Invalid address
a_b                                -> 1: Invalid address
var.x                              -> 1: Invalid address
local.x.y                          -> 1: Invalid address
resource.local.x                   -> local.x
`), "\n") {
		text, want, _ := strings.Cut(line, " -> ")
		target, ds := traversals.Target(parse(t, strings.TrimSpace(text)))
		got := target.String()
		if ds.HasErrors() {
			got = fmt.Sprintf("%d: %s", ds[0].Subject.Start.Column, ds[0].Summary)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// TestReferences prints the resource of a reference, or "-", and the steps that name the
// object itself.
func TestReferences(t *testing.T) {
	t.Parallel()
	for _, line := range strings.Split(strings.TrimSpace(`
a_b.c.d.e          -> a_b.c 2
a_b.c[0].d         -> a_b.c 3
data.a_b.c.d       -> data.a_b.c 3
resource.var.c     -> var.c 3
ephemeral.a.b[0].c -> ephemeral.a.b 4
var.x.y            -> - 2
local.x[0]         -> - 2
module.m["k"].o.p  -> - 4
module.m           -> - 2
self.x             -> - 1
each.value.x       -> - 2
a_b                -> - 1
`), "\n") {
		text, want, _ := strings.Cut(line, " -> ")
		tr := parse(t, strings.TrimSpace(text))
		got := "-"
		if r, ok := traversals.Resource(tr); ok {
			got = r.String()
		}
		if got = fmt.Sprintf("%s %d", got, traversals.ObjectSteps(tr)); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// TestUnquoted turns references in quotes into references, at their own range.
func TestUnquoted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{`"aws_x.y"`, "aws_x.y at column 2, 1 warning"},
		{`aws_x.y`, "aws_x.y at column 1, 0 warnings"},
	} {
		e, ds := hclsyntax.ParseExpression([]byte(test.text), "t", hcl.InitialPos)
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		x, ds := traversals.Unquoted(e)
		tr, more := hcl.AbsTraversalForExpr(x)
		if more.HasErrors() || ds.HasErrors() {
			t.Fatal(ds, more)
		}
		got := fmt.Sprintf("%s.%s at column %d, %d warning", tr.RootName(), tr[1].(hcl.TraverseAttr).Name, tr[0].SourceRange().Start.Column, len(ds))
		if len(ds) != 1 {
			got += "s"
		}
		if got != test.want {
			t.Errorf("%s: got %s, want %s", test.text, got, test.want)
		}
	}
}
