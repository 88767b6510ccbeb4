package walk

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// parse reads a graph as in "a; b: a; c: a b": nodes in order, each with what it
// comes after.
func parse(t testing.TB, text string) (Graph, []string) {
	t.Helper()
	var g Graph
	var names []string
	for part := range strings.SplitSeq(text, ";") {
		name, _, _ := strings.Cut(part, ":")
		names = append(names, strings.TrimSpace(name))
	}
	for part := range strings.SplitSeq(text, ";") {
		_, list, _ := strings.Cut(part, ":")
		var after []int32
		for _, name := range strings.Fields(list) {
			i := slices.Index(names, name)
			if i < 0 {
				t.Fatalf("no node %q in %q", name, text)
			}
			after = append(after, int32(i))
		}
		g.After = append(g.After, after)
	}
	g.N = len(names)
	return g, names
}

// Results: what fails takes with it what comes after it, and nothing else.
func TestResults(t *testing.T) {
	for _, tc := range []struct{ graph, fail, want string }{
		{"a", "", "a:ok"},
		{"a; b: a; c: b", "", "a:ok b:ok c:ok"},
		{"a; b: a; c: b; d", "a", "a:failed b:skipped c:skipped d:ok"},
		{"a; b; c: a b; d: b; e: c d", "a", "a:failed b:ok c:skipped d:ok e:skipped"},
		{"a; b; c: a b; d: c", "a b", "a:failed b:failed c:skipped d:skipped"},
		{"c: b; b: a; a", "b", "c:skipped b:failed a:ok"},
		{"a; b: a a; c: b a b", "", "a:ok b:ok c:ok"},
	} {
		for limit := range 4 {
			g, names := parse(t, tc.graph)
			boom := errors.New("boom")
			got := Run(t.Context(), limit+1, g, func(_ context.Context, n int) error {
				if slices.Contains(strings.Fields(tc.fail), names[n]) {
					return boom
				}
				return nil
			})
			var s []string
			for i, err := range got {
				word := map[error]string{nil: "ok", boom: "failed", ErrSkipped: "skipped"}[err]
				s = append(s, names[i]+":"+word)
			}
			if got := strings.Join(s, " "); got != tc.want {
				t.Errorf("%s, %q fails, limit %d: got %s, want %s", tc.graph, tc.fail, limit+1, got, tc.want)
			}
		}
	}
}

// With one place, the order is settled: what the longest line waits for comes first.
func TestOrderOfOne(t *testing.T) {
	for _, tc := range []struct{ graph, want string }{
		{"a; b; c", "a b c"},
		{"a; b; c; d: c; e: d", "c d a b e"},
		{"e: d; d: c; c; b; a", "c d e b a"},
		{"a; b: a; c: a; d: c; e", "a c b d e"},
	} {
		g, names := parse(t, tc.graph)
		var got []string
		Run(t.Context(), 1, g, func(_ context.Context, n int) error {
			got = append(got, names[n])
			return nil
		})
		if s := strings.Join(got, " "); s != tc.want {
			t.Errorf("%s: got %s, want %s", tc.graph, s, tc.want)
		}
	}
}

// Time goes by as the graph and the limit say, not more slowly.
func TestConcurrency(t *testing.T) {
	for _, tc := range []struct {
		graph   string
		limit   int
		seconds int // if each visit takes one
	}{
		{"a; b; c; d", 1, 4},
		{"a; b; c; d", 2, 2},
		{"a; b; c; d", 10, 1},
		{"a; b: a; c: b; d: c", 10, 4},
		{"a; b: a; c: a; d: b c", 10, 3},
		{"a; b; c; d; e: a; f: e; g: f", 2, 4}, // a has to come first
	} {
		synctest.Test(t, func(t *testing.T) {
			g, _ := parse(t, tc.graph)
			start := time.Now()
			Run(t.Context(), tc.limit, g, func(context.Context, int) error {
				time.Sleep(time.Second)
				return nil
			})
			if got := time.Since(start); got != time.Duration(tc.seconds)*time.Second {
				t.Errorf("%s, limit %d: took %v, want %d s", tc.graph, tc.limit, got, tc.seconds)
			}
		})
	}
}

// When the context ends, what runs finishes, undisturbed, and nothing starts.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		cause := errors.New("interrupted")
		ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), key{}, "v"))
		time.AfterFunc(1500*time.Millisecond, func() { cancel(cause) })
		g, _ := parse(t, "a; b: a; c: b; d; e; f: d; g")
		fail := errors.New("fail")
		got := Run(ctx, 2, g, func(ctx context.Context, n int) error {
			time.Sleep(time.Second)
			if err := ctx.Err(); err != nil {
				t.Errorf("node %d sees the end: %v", n, err)
			}
			if ctx.Value(key{}) != "v" {
				t.Errorf("node %d does not see the values", n)
			}
			if n == 3 {
				return fail
			}
			return nil
		})
		want := []error{nil, nil, cause, fail, nil, ErrSkipped, cause}
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		if got := Run(ctx, 2, g, func(context.Context, int) error { t.Error("visited"); return nil }); got[0] != cause {
			t.Errorf("a walk with an ended context: got %v", got)
		}
	})
}

// Any graph, any limit, any failures: each node at most once, never before what
// it comes after, never too many at a time, and the right result.
func TestRandom(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		n, limit := 1+r.IntN(60), 1+r.IntN(6)
		perm := r.Perm(n) // so that numbers are no possible order
		g := Graph{N: n, After: make([][]int32, n)}
		fails := make([]error, n)
		for i := range n {
			for range r.IntN(4) {
				if i > 0 {
					g.After[perm[i]] = append(g.After[perm[i]], int32(perm[r.IntN(i)]))
				}
			}
			if r.IntN(20) == 0 {
				fails[perm[i]] = fmt.Errorf("node %d", perm[i])
			}
		}
		var now atomic.Int32
		done := make([]atomic.Int32, n)
		got := Run(t.Context(), limit, g, func(_ context.Context, x int) error {
			if c := now.Add(1); int(c) > limit {
				t.Errorf("seed %d: %d at a time, limit %d", seed, c, limit)
			}
			defer now.Add(-1)
			for _, y := range g.After[x] {
				if done[y].Load() != 1 {
					t.Errorf("seed %d: %d before %d", seed, x, y)
				}
			}
			done[x].Add(1)
			return fails[x]
		})
		want := make([]error, n)
		for _, x := range perm {
			want[x] = fails[x]
			for _, y := range g.After[x] {
				if want[y] != nil {
					want[x] = ErrSkipped
				}
			}
			if visited := done[x].Load(); visited > 1 || (visited == 1) != (want[x] != ErrSkipped) {
				t.Errorf("seed %d: node %d visited %d times", seed, x, visited)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("seed %d: got %v, want %v", seed, got, want)
		}
	}
}

func TestFindCycle(t *testing.T) {
	for _, tc := range []struct{ graph, want string }{
		{"a; b: a; c: a b", ""},
		{"a: a", "a"},
		{"a: b; b: a", "a b"},
		{"x; a: x c; b: a; c: b; d: c; e: d", "a c b"},
		{"e: d; d: c; c: b; b: a; a: c", "c b a"},
	} {
		g, names := parse(t, tc.graph)
		var got []string
		for _, n := range findCycle(g) {
			got = append(got, names[n])
		}
		if s := strings.Join(got, " "); s != tc.want {
			t.Errorf("%s: got %q, want %q", tc.graph, s, tc.want)
		}
	}
}

// Our bugs panic before anything is visited.
func TestBadInput(t *testing.T) {
	cycle, _ := parse(t, "x; a: b; b: a")
	for _, tc := range []struct {
		limit int
		graph Graph
		want  string
	}{
		{1, cycle, "walk: the graph has a cycle: [1 2]"},
		{0, Graph{N: 1}, "walk: a limit of 0"},
		{1, Graph{N: 2, After: [][]int32{{1}, {2}}}, "walk: node 1 comes after 2, which a graph of 2 does not have"},
		{1, Graph{N: 1, After: [][]int32{nil, {0}}}, "walk: node 1 of a graph of 1 comes after others"},
	} {
		func() {
			defer func() {
				if got := recover(); got != tc.want {
					t.Errorf("got panic %v, want %s", got, tc.want)
				}
			}()
			Run(t.Context(), tc.limit, tc.graph, func(context.Context, int) error {
				t.Error("visited")
				return nil
			})
		}()
	}
	if got := Run(t.Context(), 1, Graph{}, nil); len(got) != 0 {
		t.Errorf("an empty graph: %v", got)
	}
	if diff := cmp.Diff([]error{nil, nil}, Run(t.Context(), 5, Graph{N: 2}, func(context.Context, int) error { return nil })); diff != "" {
		t.Error(diff)
	}
}

// explode has a name to be found in a stack.
func explode(v any) { panic(v) }

// A panic in a visit arrives where it can be recovered, with its own stack, and
// not before the others are done.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("broken")
		others := 0
		defer func() {
			p, ok := recover().(*Panic)
			if !ok || p.Value != error(cause) || !errors.Is(p, cause) || !strings.Contains(p.Error(), "explode") {
				t.Errorf("got %v", p)
			}
			if others != 1 {
				t.Errorf("%d others were under way, want 1", others)
			}
		}()
		g, _ := parse(t, "a; b; c; d")
		Run(t.Context(), 2, g, func(_ context.Context, n int) error {
			if n == 0 {
				explode(cause)
			}
			time.Sleep(time.Second)
			others++
			return nil
		})
		t.Error("Run returned")
	})
}

// A visit that ends its goroutine, as t.FailNow does, does not hang the walk.
func TestGoexit(t *testing.T) {
	g, _ := parse(t, "a; b: a")
	defer func() {
		if p, ok := recover().(*Panic); !ok || p.Value != "walk: a visit ended its goroutine" {
			t.Errorf("got %v", p)
		}
	}()
	var once sync.Once
	Run(t.Context(), 2, g, func(context.Context, int) error {
		once.Do(func() { goexit() })
		return nil
	})
}

func BenchmarkRun(b *testing.B) {
	const n = 100_000
	flat := Graph{N: n}
	chain := Graph{N: n, After: make([][]int32, n)}
	wide := Graph{N: n, After: make([][]int32, n)}
	for i := 1; i < n; i++ {
		chain.After[i] = []int32{int32(i - 1)}
		wide.After[i] = []int32{int32(i / 2), int32(i / 3), int32(i / 10)}
		if i < 10 {
			wide.After[i] = nil
		}
	}
	for name, g := range map[string]Graph{"flat": flat, "chain": chain, "wide": wide} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Run(b.Context(), 10, g, func(context.Context, int) error { return nil })
			}
		})
	}
}
