package states

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

func block(t testing.TB, s string) addrs.ConfigResource {
	t.Helper()
	r, err := addrs.ParseConfigResource(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// graph makes dependencies from lines like "c: a b". What stands right of a colon
// was defined further up, or depends on nothing.
func graph(t testing.TB, text string) map[string]*Dependencies {
	t.Helper()
	out := map[string]*Dependencies{}
	for line := range strings.Lines(text) {
		name, list, _ := strings.Cut(strings.TrimSpace(line), ":")
		var direct []Dependency
		for _, d := range strings.Fields(list) {
			direct = append(direct, Dependency{block(t, d), out[d]})
		}
		out[name] = DirectDependencies(direct)
	}
	return out
}

func listed(t testing.TB, list ...string) *Dependencies {
	t.Helper()
	return ListedDependencies(func() []addrs.ConfigResource {
		var out []addrs.ConfigResource
		for _, s := range list {
			out = append(out, block(t, s))
		}
		return SortDependencies(out)
	})
}

func names(list []addrs.ConfigResource) string {
	var out []string
	for _, r := range list {
		out = append(out, r.String())
	}
	return strings.Join(out, " ")
}

func TestDependenciesAreListedInFull(t *testing.T) {
	g := graph(t, `t.a:
		t.b: t.a
		data.x.y: t.b
		module.m.t.c: t.b data.x.y
		t.d: module.m.t.c t.b
		t.e: t.z`)
	for name, want := range map[string]string{
		"t.a":          "",
		"t.b":          "t.a",
		"data.x.y":     "t.a t.b",
		"module.m.t.c": "data.x.y t.a t.b",
		"t.d":          "data.x.y module.m.t.c t.a t.b",
		"t.e":          "t.z",
	} {
		if got := names(g[name].All()); got != want {
			t.Errorf("%s depends on %s, want %s", name, got, want)
		}
	}
	if g["t.a"] != nil {
		t.Error("no dependencies are not nil")
	}
}

func TestListedDependenciesAreLoadedOnce(t *testing.T) {
	loads := 0
	d := ListedDependencies(func() []addrs.ConfigResource {
		loads++
		return []addrs.ConfigResource{block(t, "t.a"), block(t, "t.b")}
	})
	further := DirectDependencies([]Dependency{{block(t, "t.c"), d}})
	if loads != 0 {
		t.Error("loaded before anybody asked")
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if got := names(further.All()); got != "t.a t.b t.c" {
				t.Errorf("got %s", got)
			}
		})
	}
	wg.Wait()
	if loads != 1 {
		t.Errorf("loaded %d times", loads)
	}
}

func TestMergeDependencies(t *testing.T) {
	a, b := listed(t, "t.a", "t.c"), graph(t, "t.b: t.a\nt.d: t.b")["t.d"]
	for _, c := range []struct {
		d    *Dependencies
		want string
	}{
		{MergeDependencies(nil, nil), ""},
		{MergeDependencies(a, nil), "t.a t.c"},
		{MergeDependencies(nil, b), "t.a t.b"},
		{MergeDependencies(a, a), "t.a t.c"},
		{MergeDependencies(a, b), "t.a t.b t.c"},
		{DirectDependencies([]Dependency{{block(t, "t.x"), MergeDependencies(a, b)}}), "t.a t.b t.c t.x"},
	} {
		if got := names(c.d.All()); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
		if got := closed(Close(slices.Values([]*Dependencies{c.d})), c.d); got != c.want {
			t.Errorf("closed: got %s, want %s", got, c.want)
		}
	}
}

func TestSortDependencies(t *testing.T) {
	list := []addrs.ConfigResource{block(t, "t.z"), block(t, "module.m.t.a"), block(t, "data.t.b"), block(t, "t.z")}
	if got := names(SortDependencies(list)); got != "data.t.b module.m.t.a t.z" {
		t.Errorf("got %s", got)
	}
}

// closed returns what c says of d, as [names] does.
func closed(c *Closure, d *Dependencies) string {
	var out []string
	for _, i := range c.List(d) {
		out = append(out, c.Names()[i])
	}
	return strings.Join(out, " ")
}

// Many lists made at once are the lists made one by one.
func TestClosureAgreesWithAll(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		var all []*Dependencies
		for i := range 20 {
			switch k := r.IntN(6); {
			case k == 0 && i > 1:
				all = append(all, MergeDependencies(all[r.IntN(i)], all[r.IntN(i)]))
			case k == 1:
				all = append(all, listed(t, fmt.Sprintf("t.l%d", i), fmt.Sprintf("data.t.l%d", r.IntN(20))))
			default:
				var direct []Dependency
				for range min(i, r.IntN(4)) {
					j := r.IntN(i)
					direct = append(direct, Dependency{block(t, fmt.Sprintf("t.r%d", j)), all[j]})
				}
				all = append(all, DirectDependencies(direct))
			}
		}
		c := Close(slices.Values(all))
		for _, i := range r.Perm(len(all)) {
			if got, want := closed(c, all[i]), names(all[i].All()); got != want {
				t.Fatalf("closed: %s\nall:    %s", got, want)
			}
		}
	}
}

func TestALongChainIsNoTrouble(t *testing.T) {
	const n = 3000
	var all []*Dependencies
	var d *Dependencies
	for i := range n {
		d = DirectDependencies([]Dependency{{block(t, fmt.Sprintf("t.link%04d", i)), d}})
		all = append(all, d)
	}
	c := Close(slices.Values(all))
	for i, d := range all {
		if got := len(c.List(d)); got != i+1 {
			t.Fatalf("link %d has %d dependencies", i, got)
		}
	}
}
