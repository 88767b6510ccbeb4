package blastradius

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

var actions = map[byte]plans.Action{'=': plans.NoOp, '+': plans.Create, '~': plans.Update, '/': plans.DeleteThenCreate, '-': plans.Delete, 'f': plans.Forget}

// planOf reads a plan: words such as "-a", "=b(a,c)" and "~d[1](b)", with an action, a name, an instance key, and
// the dependencies.
func planOf(text string) *plans.Plan {
	p := &plans.Plan{}
	for word := range strings.FieldsSeq(text) {
		name, deps, _ := strings.Cut(strings.TrimSuffix(word[1:], ")"), "(")
		name, key, keyed := strings.Cut(name, "[")
		c := &plans.ResourceChange{}
		c.Action = actions[word[0]]
		k := addrs.NoKey
		if keyed {
			k = addrs.StringKey(key)
		}
		c.Addr.Instance = addrs.AbsResource{Resource: addrs.Resource{Mode: addrs.Managed, Type: "t", Name: name}}.Instance(k)
		for _, d := range strings.FieldsFunc(deps, func(r rune) bool { return r == ',' }) {
			c.ConfigDeps = append(c.ConfigDeps, addrs.ConfigResource{Resource: addrs.Resource{Mode: addrs.Managed, Type: "t", Name: d}})
		}
		p.Changes = append(p.Changes, c)
	}
	return p
}

func shown(r Radius) string {
	out := []string{fmt.Sprint(r.Objects)}
	for _, e := range r.Edges {
		out = append(out, r.Nodes[e[0]].Resource.Resource.Name+">"+r.Nodes[e[1]].Resource.Resource.Name)
	}
	return strings.Join(out, " ")
}

func TestOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ plan, want string }{
		{"", "0"},
		{"-a =b", "0"},
		{"=a =b(a)", "0"},
		{"-a =b(a)", "1 a>b"},
		{"/a =b(a) =c(b) =d", "2 a>b b>c"},
		{"~a =b(a)", "1 a>b"},
		{"+a =b(a)", "0"},
		{"fa =b(a)", "0"},
		{"/a ~b(a) =c(b)", "1 a>b b>c"},
		{"/a =b[1](a) =b[2](a) ~b[3](a)", "2 a>b"},
		{"=a[1] /a[2] =b(a)", "1 a>b"},
		{"/a =b(a) =c(a) =d(b,c)", "3 a>b a>c b>d c>d"},
		{"/a =b(a,c) =c(b)", "2 a>b b>c c>b"},
		{"/a(b) =b(a)", "1 a>b b>a"},
		{"/a =b(a) =x =y(x)", "1 a>b"},
		{"/a =b(gone)", "0"},
		{"/a(a) =b", "0"},
	} {
		if got := shown(Of(planOf(c.plan))); got != c.want {
			t.Errorf("%s: %s, want %s", c.plan, got, c.want)
		}
	}
}

// TestRandomGraphs compares the radius of random plans with a closure that is computed by brute force: Warshall's
// algorithm, which knows all pairs.
func TestRandomGraphs(t *testing.T) {
	t.Parallel()
	some := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 1 + r.IntN(24)
		after := make([][]bool, n) // after[i][j]: j depends on i, directly
		for i := range after {
			after[i] = make([]bool, n)
		}
		var words []string
		kind := make([]byte, n)
		for j := range n {
			kind[j] = "===+~/-f"[r.IntN(8)]
			var deps []string
			for i := range n {
				if r.IntN(n) < 2 && (i < j || r.IntN(8) == 0) {
					deps = append(deps, fmt.Sprintf("n%02d", i))
					after[i][j] = i != j
				}
			}
			words = append(words, fmt.Sprintf("%cn%02d(%s)", kind[j], j, strings.Join(deps, ",")))
		}
		reach := make([][]bool, n)
		for i := range reach {
			reach[i] = slices.Clone(after[i])
		}
		for k := range n {
			for i := range n {
				for j := range n {
					reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
				}
			}
		}
		objects := 0
		in := make([]bool, n)
		for i := range n {
			if !strings.ContainsRune("~/-", rune(kind[i])) {
				continue
			}
			for j := range n {
				if reach[i][j] {
					in[i], in[j] = true, true
				}
			}
		}
		var edges []string
		for i := range n {
			used := false
			for k := range n {
				used = used || strings.ContainsRune("~/-", rune(kind[k])) && reach[k][i]
			}
			if used && kind[i] == '=' {
				objects++
			}
			for j := range n {
				if after[i][j] && in[i] && in[j] {
					edges = append(edges, fmt.Sprintf("n%02d>n%02d", i, j))
				}
			}
		}
		r.Shuffle(n, func(i, j int) { words[i], words[j] = words[j], words[i] })
		got, want := Of(planOf(strings.Join(words, " "))), strings.Join(append([]string{fmt.Sprint(objects)}, edges...), " ")
		if shown(got) != want {
			t.Errorf("seed %d: %s\n got %s\nwant %s", seed, strings.Join(words, " "), shown(got), want)
		}
		some += objects
		checkReduced(t, got)
	}
	if some < 300 {
		t.Errorf("only %d objects depend on changes in all plans", some)
	}
}

// checkReduced checks that reduced edges lead to the same nodes, and that none of them can be left out.
func checkReduced(t *testing.T, r Radius) {
	t.Helper()
	reach := func(edges [][2]int) string {
		all := map[[2]int]bool{}
		for range r.Nodes {
			for _, e := range edges {
				all[e] = true
				for x := range all {
					if x[1] == e[0] {
						all[[2]int{x[0], e[1]}] = true
					}
				}
			}
		}
		return fmt.Sprint(all)
	}
	reduced, all := r.Reduced(), reach(r.Edges)
	if reach(reduced) != all {
		t.Errorf("%v is reduced to %v", r.Edges, reduced)
	}
	if len(reduced) == len(r.Edges) {
		return
	}
	for i := range reduced {
		if reach(slices.Delete(slices.Clone(reduced), i, i+1)) == all {
			t.Errorf("%v is reduced to %v, and needs no %v", r.Edges, reduced, reduced[i])
		}
	}
}

// TestLargeGraphs holds that 10,000 resources take no time: in a chain, and with many edges.
func TestLargeGraphs(t *testing.T) {
	t.Parallel()
	const n = 10_000
	chain, dense := []string{"/n0"}, []string{"/n0"}
	for i := 1; i < n; i++ {
		chain = append(chain, fmt.Sprintf("=n%d(n%d)", i, i-1))
		deps := []string{}
		for d := range 20 {
			deps = append(deps, fmt.Sprintf("n%d", (i*7919+d*104729)%i))
		}
		dense = append(dense, fmt.Sprintf("=n%d(%s)", i, strings.Join(deps, ",")))
	}
	for name, words := range map[string][]string{"chain": chain, "dense": dense} {
		p := planOf(strings.Join(words, " "))
		begun := time.Now()
		if got := Of(p); got.Objects == 0 || name == "chain" && got.Objects != n-1 {
			t.Errorf("%s: %d objects", name, got.Objects)
		}
		if took := time.Since(begun); took > 3*time.Second {
			t.Errorf("%s took %v", name, took)
		} else {
			t.Logf("%s took %v", name, took)
		}
	}
}
