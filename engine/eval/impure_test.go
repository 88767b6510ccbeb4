package eval_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/eval"
)

// keeper keeps the values of one process for the next.
type keeper struct {
	calls int64
	kept  map[string]cty.Value
}

func (k *keeper) Value(name string) (cty.Value, bool) { v, ok := k.kept[name]; return v, ok }
func (k *keeper) Keep(name string, v cty.Value)       { k.kept[name] = v }
func (k *keeper) Calls() int64                        { return k.calls }

// TestImpureValuesAreKept: each named value whose own expression calls an impure function is kept, and
// another process that evaluates the same program has the same values.
func TestImpureValuesAreKept(t *testing.T) {
	t.Parallel()
	const text = `locals {
  drawn  = next()
  plain  = "p"
  use    = local.drawn
  twice  = [next(), next()]
  bad    = upper([next()])
}
module "m" {
  source   = "./m"
  for_each = { k = next() }
  given    = "${each.value}-${next()}"
}
output "all" { value = [local.drawn, local.use, local.twice, module.m["k"].out, local.plain] }
-- m/main.tf --
variable "given" {}
output "out" { value = "${var.given}-${next()}" }
`
	k := &keeper{kept: map[string]cty.Value{}}
	drawn := 0
	run := func() string {
		w := world(t, text)
		w.Functions = maps.Clone(w.Functions)
		if w.Functions == nil {
			w.Functions = map[string]function.Function{}
		}
		w.Functions["next"] = function.New(&function.Spec{
			Type: function.StaticReturnType(cty.String),
			Impl: func([]cty.Value, cty.Type) (cty.Value, error) {
				k.calls++
				drawn++
				return cty.StringVal(fmt.Sprint(drawn)), nil
			},
		})
		w.Impure = k
		e := eval.New(t.Context(), w)
		v, ds := e.Output(addrs.RootModuleInstance, "all")
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		if _, ds := e.Local(addrs.RootModuleInstance, "bad"); !ds.HasErrors() {
			t.Error("an error is lost where values are kept")
		}
		return fmt.Sprintf("%#v", v)
	}
	first := run()
	want := `for_each of module.m, local.drawn, local.twice, module.m["k"].output.out, module.m["k"].var.given`
	if got := strings.Join(slices.Sorted(maps.Keys(k.kept)), ", "); got != want {
		t.Errorf("kept are %s\nwant %s", got, want)
	}
	if second := run(); second != first || drawn != 8 {
		t.Errorf("then it is %s\nwant %s (%d were drawn)", second, first, drawn)
	}
}
