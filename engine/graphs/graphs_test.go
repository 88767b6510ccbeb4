package graphs

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

func load(t testing.TB, text string) *config.Config {
	t.Helper()
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(map[string][]byte{"main.tf": []byte(text)})})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return cfg
}

// large returns configurations of n resources, in shapes that are hard in their own ways.
func large(n int) map[string]string {
	var flat, chain, values strings.Builder
	for i := range n {
		fmt.Fprintf(&flat, "resource \"terraform_data\" \"r%d\" {\n  input = local.x\n}\n", i)
		fmt.Fprintf(&chain, "resource \"terraform_data\" \"r%d\" {\n  input = %s\n}\n", i, previous(i))
		fmt.Fprintf(&values, "variable \"v%d\" {}\nresource \"terraform_data\" \"r%d\" {\n  input = [var.v%d, %s]\n}\n", i, i, i, previous(i))
	}
	out := map[string]string{"flat": flat.String(), "chain": chain.String(), "values": values.String()}
	for k := range out {
		out[k] += "locals {\n  x = 1\n}\n"
	}
	return out
}

func previous(i int) string {
	if i == 0 {
		return "local.x"
	}
	return fmt.Sprintf("terraform_data.r%d.id", i-1)
}

// Graphs of thousands of resources are drawn in a moment.
func TestLarge(t *testing.T) {
	for name, text := range large(4000) {
		cfg := load(t, text)
		start := time.Now()
		if err := Build(Input{Operation: Plan, Config: cfg}).WriteDOT(io.Discard, true); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// BenchmarkApply draws a plan for 10,000 instances that mention all of 100 others.
func BenchmarkApply(b *testing.B) {
	cfg := load(b, "resource \"terraform_data\" \"r\" {\n  count = 100\n}\nresource \"terraform_data\" \"s\" {\n  count = 10000\n  input = terraform_data.r[*].id\n}\n")
	p := &plans.Plan{Mode: plans.NormalMode, PriorState: states.Empty()}
	for _, x := range []struct {
		name string
		n    int
	}{{"r", 100}, {"s", 10000}} {
		for i := range x.n {
			r := addrs.AbsResource{Resource: addrs.Resource{Mode: addrs.Managed, Type: "terraform_data", Name: x.name}}
			p.Changes = append(p.Changes, &plans.ResourceChange{Addr: addrs.ResourceInstanceObject{Instance: r.Instance(addrs.IntKey(i))}, Change: plans.Change{Action: plans.Create}})
		}
	}
	for b.Loop() {
		Build(Input{Operation: Apply, Config: cfg, Plan: p}).WriteDOT(io.Discard, false)
	}
}
