package dependencies_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/internal/dependencies"
	"github.com/lockstep-iac/lockstep/engine/internal/order"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

func change(t *testing.T, address string, action plans.Action, deps *states.Dependencies) *plans.ResourceChange {
	t.Helper()
	a, err := addrs.ParseAbsResourceInstance(address)
	if err != nil {
		t.Fatal(err)
	}
	return &plans.ResourceChange{Addr: addrs.ResourceInstanceObject{Instance: a}, Change: plans.Change{Action: action}, StoredDeps: deps}
}

// TestTransitive: through which resources the order of deletions is transitive.
func TestTransitive(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		actions map[string]plans.Action
		want    []string
	}{
		{"all are deleted", map[string]plans.Action{"t.a": plans.Delete, "t.b[0]": plans.Delete, "t.b[1]": plans.Delete}, []string{"t.a", "t.b"}},
		{"something is made", map[string]plans.Action{"t.a": plans.Delete, "t.b": plans.Create}, nil},
		{"something is checked again", map[string]plans.Action{"t.a": plans.Delete, "t.b": plans.NoOp}, nil},
		{"an object that is forgotten passes nothing on", map[string]plans.Action{"t.a": plans.Delete, "t.b": plans.Forget}, []string{"t.a"}},
		{"not in every instance of the module", map[string]plans.Action{
			"module.m[0].t.a": plans.Delete, "module.m[1].t.a": plans.Delete, "module.m[1].t.b": plans.Delete, "t.c": plans.Delete,
		}, []string{"module.m.t.a", "t.c"}},
	} {
		var changes []*plans.ResourceChange
		for address, action := range c.actions {
			changes = append(changes, change(t, address, action, nil))
		}
		var got []string
		for cr, ok := range dependencies.Transitive(changes) {
			if ok {
				got = append(got, cr.String())
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

// TestImplied takes random configurations down, once with all that the state has stored and
// once with the shortened lists: the same comes before the same.
func TestImplied(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		changes := destruction(t, r)
		implied := dependencies.Implied(changes)
		shorter := false
		full, short := make([]order.Change, len(changes)), make([]order.Change, len(changes))
		for i, c := range changes {
			full[i] = order.Change{Object: c.Addr, Config: c.Addr.Instance.Config(), Action: c.Action}
			short[i] = full[i]
			full[i].StoredDeps, short[i].StoredDeps = c.StoredDeps.All(), c.StoredDeps.Until(implied)
			shorter = shorter || len(short[i].StoredDeps) < len(full[i].StoredDeps)
		}
		if diff := cmp.Diff(before(order.Steps(full), len(changes)), before(order.Steps(short), len(changes))); diff != "" {
			t.Fatalf("seed %d (-full +short)\n%s", seed, diff)
		}
		if seed == 0 && !shorter {
			t.Error("nothing was left out")
		}
	}
}

// destruction returns deletions of instances of blocks that depend on earlier ones, some
// of them in a module with two instances.
func destruction(t *testing.T, r *rand.Rand) []*plans.ResourceChange {
	var blocks []states.Dependency
	var out []*plans.ResourceChange
	for i := range 8 {
		var direct []states.Dependency
		for _, b := range blocks {
			if r.IntN(3) == 0 {
				direct = append(direct, b)
			}
		}
		deps := states.DirectDependencies(direct)
		places := []string{""}
		if r.IntN(2) == 0 {
			places = []string{"module.m[0].", "module.m[1]."}
		}
		for _, in := range places {
			if len(places) == 1 || r.IntN(4) > 0 {
				own := deps
				if r.IntN(6) == 0 { // the object is of another day
					own = states.DirectDependencies(direct[:len(direct)/2])
				}
				out = append(out, change(t, fmt.Sprintf("%st.r%d", in, i), plans.Delete, own))
			}
		}
		a, err := addrs.ParseAbsResourceInstance(fmt.Sprintf("%st.r%d", places[0], i))
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, states.Dependency{Resource: a.Config(), Further: deps})
	}
	return out
}

// before returns for each of the first n steps what comes before it, directly or not.
func before(g order.Graph, n int) [][]int {
	out := make([][]int, n)
	for i := range n {
		seen := map[int32]bool{}
		var visit func(int32)
		visit = func(x int32) {
			for _, y := range g.After[x] {
				if !seen[y] {
					seen[y] = true
					visit(y)
				}
			}
		}
		visit(int32(i))
		for x := range n {
			if seen[int32(x)] {
				out[i] = append(out[i], x)
			}
		}
	}
	return out
}
