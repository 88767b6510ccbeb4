package walk

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func goexit() { runtime.Goexit() }

// Free places help, busy ones do not, and the limit holds.
func TestEachConcurrency(t *testing.T) {
	for _, tc := range []struct {
		nodes, items, limit int
		seconds             int // if each item takes one
	}{
		{1, 8, 1, 8},
		{1, 8, 4, 2},
		{2, 8, 4, 4},
		{8, 1, 4, 2},
		{3, 10, 10, 3},
		{1, 0, 3, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			var done, now atomic.Int32
			Run(t.Context(), tc.limit, Graph{N: tc.nodes}, func(ctx context.Context, _ int) error {
				return Each(ctx, tc.items, func(context.Context, int) {
					if c := now.Add(1); int(c) > tc.limit {
						t.Errorf("%+v: %d at a time", tc, c)
					}
					time.Sleep(time.Second)
					now.Add(-1)
					done.Add(1)
				})
			})
			if got := time.Since(start); got != time.Duration(tc.seconds)*time.Second {
				t.Errorf("%+v: took %v", tc, got)
			}
			if int(done.Load()) != tc.nodes*tc.items {
				t.Errorf("%+v: %d items done", tc, done.Load())
			}
		})
	}
}

// Nested calls inside visits that wait for each other end, whatever the limit.
func TestEachNested(t *testing.T) {
	for limit := 1; limit < 6; limit++ {
		var now, done atomic.Int32
		leaf := func(context.Context, int) {
			if c := now.Add(1); int(c) > limit {
				t.Errorf("limit %d: %d at a time", limit, c)
			}
			runtime.Gosched()
			done.Add(1)
			now.Add(-1)
		}
		g, _ := parse(t, "a; b; c: a b; d; e: c d")
		errs := Run(t.Context(), limit, g, func(ctx context.Context, _ int) error {
			return Each(ctx, 7, func(ctx context.Context, _ int) {
				if err := Each(ctx, 5, leaf); err != nil {
					t.Error(err)
				}
			})
		})
		if err := errors.Join(errs...); err != nil {
			t.Error(err)
		}
		if done.Load() != 5*7*5 {
			t.Errorf("limit %d: %d leaves", limit, done.Load())
		}
	}
}

// Outside of a walk it is a loop.
func TestEachAlone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var got []int
	err := Each(ctx, 5, func(_ context.Context, i int) {
		got = append(got, i)
		if i == 2 {
			cancel()
		}
	})
	if len(got) != 3 || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", got, err)
	}
}

// The end of the walk's context, or of the one that Each is given, stops it.
func TestEachStops(t *testing.T) {
	for _, inner := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			cause := errors.New("interrupted")
			ctx, cancel := context.WithCancelCause(t.Context())
			done := make([]bool, 10)
			Run(ctx, 3, Graph{N: 1}, func(ctx context.Context, _ int) error {
				if inner {
					ctx, cancel = context.WithCancelCause(ctx)
				}
				time.AfterFunc(1500*time.Millisecond, func() { cancel(cause) })
				err := Each(ctx, len(done), func(_ context.Context, i int) {
					time.Sleep(time.Second)
					done[i] = true
				})
				if err != cause {
					t.Errorf("inner %v: got %v", inner, err)
				}
				return nil
			})
			for i, d := range done {
				if d != (i < 6) {
					t.Errorf("inner %v: item %d done: %v", inner, i, d)
				}
			}
		})
	}
}

// A panic in an item ends the visit that shared it out, whoever did the item.
func TestEachPanics(t *testing.T) {
	for bad := range 4 {
		synctest.Test(t, func(t *testing.T) {
			var ended atomic.Int32
			defer func() {
				p, ok := recover().(*Panic)
				if !ok || p.Value != "item" || !strings.Contains(p.Error(), "explode") {
					t.Errorf("item %d: got %v", bad, p)
				}
				if ended.Load() != 3 {
					t.Errorf("item %d: %d others ended, want 3", bad, ended.Load())
				}
			}()
			Run(t.Context(), 4, Graph{N: 1}, func(ctx context.Context, _ int) error {
				Each(ctx, 100, func(_ context.Context, i int) {
					if i == bad {
						explode("item")
					}
					time.Sleep(time.Second)
					ended.Add(1)
				})
				t.Error("Each returned")
				return nil
			})
		})
	}
}

// A visit may recover the panic of an item and go on.
func TestEachRecovered(t *testing.T) {
	errs := Run(t.Context(), 3, Graph{N: 1}, func(ctx context.Context, _ int) (err error) {
		defer func() { err, _ = recover().(*Panic) }()
		Each(ctx, 10, func(context.Context, int) { explode("x") })
		return nil
	})
	if p, ok := errs[0].(*Panic); !ok || p.Value != "x" {
		t.Errorf("got %v", errs[0])
	}
}

func BenchmarkEach(b *testing.B) {
	for b.Loop() {
		Run(b.Context(), 10, Graph{N: 10}, func(ctx context.Context, _ int) error {
			return Each(ctx, 10_000, func(context.Context, int) {})
		})
	}
}
