package eval_test

import (
	"testing"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/eval"
)

// TestModulesAreListedOnce asks for the instances of a module again and again, as an apply does for
// each resource in it: the cost must not be that of all instances.
func TestModulesAreListedOnce(t *testing.T) {
	t.Parallel()
	w := world(t, "module \"a\" {\n  source = \"./a\"\n  count = 20\n}\n-- a/main.tf --\nmodule \"b\" {\n  source = \"../b\"\n  for_each = toset([\"x\", \"y\"])\n}\n-- b/main.tf --\nlocals {\n  l = 1\n}\n")
	e := eval.New(t.Context(), w)
	m := w.Config.Modules[addrs.NewModule("a", "b")]
	ins, ds := e.Modules(m)
	if ds.HasErrors() || len(ins) != 40 {
		t.Fatalf("got %d instances, %v", len(ins), ds)
	}
	if again, _ := e.Modules(m); len(again) != 40 || &again[0] != &ins[0] {
		t.Error("the list is made anew each time")
	}
	a := addrs.RootModuleInstance.Child("a", addrs.IntKey(19))
	for in, want := range map[addrs.ModuleInstance]bool{
		a.Child("b", addrs.StringKey("x")): true,
		a.Child("b", addrs.StringKey("z")): false,
		addrs.RootModuleInstance.Child("a", addrs.IntKey(20)).Child("b", addrs.StringKey("x")): false,
	} {
		e := eval.New(t.Context(), w)
		for range 2 {
			if got := e.HasModule(m, in); got != want {
				t.Errorf("HasModule(%s) = %t", in, got)
			}
		}
	}
}
