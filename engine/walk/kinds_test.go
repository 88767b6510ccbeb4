package walk

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A kind with a limit does not hold up others, in visits and in what they share out, and does not exceed its limit.
func TestKinds(t *testing.T) {
	for _, tc := range []struct {
		name           string
		limit          int
		limits         []int
		kinds          []int32 // by node
		items          int     // of each visit, of a second each
		seconds, first int     // until all is done, and until nodes of kind 0 are
	}{
		{"cannot be used together", 10, []int{0, 1}, []int32{1, 1, 1, 1}, 1, 4, 0},
		{"beside others", 2, []int{0, 1}, []int32{1, 1, 1, 0, 0, 0}, 1, 3, 3},
		{"others first", 10, []int{0, 1}, []int32{1, 1, 1, 0, 0, 0}, 1, 3, 1},
		{"two kinds", 10, []int{0, 1, 2}, []int32{1, 1, 2, 2, 2, 2, 0}, 1, 2, 1},
		{"no limit", 4, []int{0, 0}, []int32{1, 1, 1, 1}, 1, 1, 0},
		{"a limit above that of the walk", 2, []int{0, 9}, []int32{1, 1, 1, 1}, 1, 2, 0},
		{"shared out", 10, []int{0, 2}, []int32{1, 0}, 6, 3, 1},
		{"shared out, one at a time", 10, []int{0, 1}, []int32{1, 0}, 6, 6, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				now := make([]atomic.Int32, len(tc.limits))
				var first atomic.Int64
				Run(t.Context(), tc.limit, Graph{N: len(tc.kinds), Kinds: tc.kinds, Limits: tc.limits}, func(ctx context.Context, n int) error {
					kind := tc.kinds[n]
					err := Each(ctx, tc.items, func(context.Context, int) {
						if c := now[kind].Add(1); tc.limits[kind] > 0 && int(c) > tc.limits[kind] {
							t.Errorf("%d of kind %d at a time", c, kind)
						}
						time.Sleep(time.Second)
						now[kind].Add(-1)
					})
					if kind == 0 {
						first.Store(int64(time.Since(start)))
					}
					return err
				})
				if got := time.Since(start); got != time.Duration(tc.seconds)*time.Second {
					t.Errorf("took %v, want %d s", got, tc.seconds)
				}
				if got := time.Duration(first.Load()); got != time.Duration(tc.first)*time.Second {
					t.Errorf("kind 0 took %v, want %d s", got, tc.first)
				}
			})
		})
	}
}

// Whatever the kinds, everything is visited once, in order, and stays below the limits.
func TestRandomKinds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		g := Graph{N: r.IntN(40), Limits: []int{0, 1 + r.IntN(3), 1 + r.IntN(3)}, Kinds: []int32{}}
		g.After = make([][]int32, g.N)
		for n := range g.N {
			g.Kinds = append(g.Kinds, int32(r.IntN(3)))
			for m := range n {
				if r.IntN(6) == 0 {
					g.After[n] = append(g.After[n], int32(m))
				}
			}
		}
		limit, items := 1+r.IntN(6), r.IntN(4)
		var now [3]atomic.Int32
		visited := make([]atomic.Bool, g.N)
		for n, err := range Run(t.Context(), limit, g, func(ctx context.Context, n int) error {
			for _, m := range g.After[n] {
				if !visited[m].Load() {
					t.Errorf("seed %d: %d before %d", seed, n, m)
				}
			}
			kind := g.Kinds[n]
			if c := now[kind].Add(1); kind > 0 && int(c) > g.Limits[kind] {
				t.Errorf("seed %d: %d of kind %d at a time", seed, c, kind)
			}
			now[kind].Add(-1)
			err := Each(ctx, items, func(ctx context.Context, _ int) {
				_ = Each(ctx, items, func(context.Context, int) {})
			})
			if visited[n].Swap(true) {
				t.Errorf("seed %d: %d is visited twice", seed, n)
			}
			return err
		}) {
			if err != nil || !visited[n].Load() {
				t.Errorf("seed %d: node %d: %v", seed, n, err)
			}
		}
	}
}

// After a stop, nodes that wait for their kind are not begun.
func TestStopOfKinds(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	visits := 0
	errs := Run(ctx, 4, Graph{N: 5, Kinds: []int32{1, 1, 1, 1, 1}, Limits: []int{0, 1}}, func(context.Context, int) error {
		visits++
		stop()
		return nil
	})
	if visits != 1 || errs[0] != nil || errs[4] != context.Canceled {
		t.Errorf("%d visits, %v", visits, errs)
	}
}
