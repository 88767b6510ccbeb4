package order

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// group returns n instances of a resource, with shared lists.
func group(name string, n int, action plans.Action, provider string, config, stored []addrs.ConfigResource) []Change {
	var out []Change
	for i := range n {
		c := Change{Action: action, ConfigDeps: config, StoredDeps: stored}
		c.Object.Instance = parseInstance(fmt.Sprintf("%s[%d]", name, i))
		c.Config = c.Object.Instance.Config()
		c.Provider.Alias = provider
		out = append(out, c)
	}
	return out
}

func names(prefix string, n int) (out []addrs.ConfigResource) {
	for i := range n {
		out = append(out, parseInstance(fmt.Sprint(prefix, i)).Config())
	}
	return out
}

// large are change sets of a size where anything quadratic shows.
func large() map[string][]Change {
	a, r := names("a", 1), names("r", 1)
	out := map[string][]Change{
		"flat 10000": nil,
		"count 1000 x 1000": append(group("a0", 1000, plans.DeleteThenCreate, "", nil, nil),
			group("b", 1000, plans.DeleteThenCreate, "", a, a)...),
		"count 1000 x 1000 create first": append(group("a0", 1000, plans.CreateThenDelete, "", nil, nil),
			group("b", 1000, plans.CreateThenDelete, "", a, a)...),
		"provider 1 x 1000": append(group("r0", 1, plans.Update, "q", nil, nil),
			group("y", 1000, plans.Delete, "p", r, r)...),
		"provider 100 x 1000": append(group("r0", 100, plans.DeleteThenCreate, "q", nil, nil),
			group("y", 1000, plans.Delete, "p", r, r)...),
		"count 1000 x 1000 reversed": append(group("a0", 1000, plans.DeleteThenCreate, "", names("b", 1), nil),
			group("b0", 1000, plans.DeleteThenCreate, "", nil, a)...),
	}
	// All that stands behind a barrier yields at first, and comes back with one edge.
	out["count 1000 x 1000 before a provider"] = slices.Concat(group("a0", 1000, plans.Delete, "q", nil, nil),
		group("b0", 1000, plans.DeleteThenCreate, "q", nil, a), group("y", 1, plans.Delete, "p", names("b", 1), nil))
	chain := names("c", 5000)
	for i := range 10_000 {
		out["flat 10000"] = append(out["flat 10000"], group(fmt.Sprint("f", i), 1, plans.Create, "", nil, nil)...)
	}
	for i := range chain {
		direct := chain[max(0, i-1):i]
		name := fmt.Sprint("c", i)
		out["chain 5000 create"] = append(out["chain 5000 create"], group(name, 1, plans.Create, "", direct, nil)...)
		out["chain 5000 replace"] = append(out["chain 5000 replace"], group(name, 1, plans.DeleteThenCreate, "", direct, direct)...)
		out["chain 5000 destroy"] = append(out["chain 5000 destroy"], group(name, 1, plans.Delete, "", nil, direct)...)
		if i < 1500 { // as state files list them
			out["chain 1500 destroy"] = append(out["chain 1500 destroy"], group(name, 1, plans.Delete, "", nil, chain[:i])...)
		}
	}
	return out
}

// The number of edges stays below a small multiple of the changes and what they list.
func TestEdgesAreLinear(t *testing.T) {
	for name, changes := range large() {
		t.Run(name, func(t *testing.T) {
			size := len(changes)
			for _, c := range changes {
				size += len(c.ConfigDeps) + len(c.ProviderDeps) + len(c.StoredDeps)
			}
			g := Steps(changes)
			edges := 0
			for _, list := range g.After {
				edges += len(list)
			}
			if edges > 6*size || len(g.Steps) > 2*len(changes)+20 {
				t.Errorf("%d changes with dependencies: %d steps, %d edges", size, len(g.Steps), edges)
			}
		})
	}
}

func BenchmarkSteps(b *testing.B) {
	for name, changes := range large() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Steps(changes)
			}
		})
	}
}
