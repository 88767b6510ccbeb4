package lambdatest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// visited is a store of chains whose records can be visited.
type visited interface {
	Each(ctx context.Context, visit func(chain string, n int, data []byte) error) error
}

// TestChains tests the contract of pipeline.Chains, and of [visited] if the store is that, too. open returns Chains
// that contain nothing of earlier tests. The tests run in parallel.
func TestChains(t *testing.T, open func(t *testing.T) pipeline.Chains) {
	hold(t, open, []contract[pipeline.Chains]{
		{"life", chainLife},
		{"racing writers", chainRace},
		{"many records", chainMany},
	})
}

func wantLink(t *testing.T, c pipeline.Chains, chain string, n int, data string) {
	t.Helper()
	got, err := c.Link(t.Context(), chain, n)
	if data == "" {
		if !errors.Is(err, pipeline.ErrNoLink) {
			t.Errorf("record %d of %s: %q, %v; want none", n, chain, got, err)
		}
		return
	}
	if err != nil || string(got) != data {
		t.Errorf("record %d of %s: %q, %v; want %q", n, chain, got, err, data)
	}
}

func wantLast(t *testing.T, c pipeline.Chains, chain string, from, want int) {
	t.Helper()
	if got, err := c.Last(t.Context(), chain, from); err != nil || got != want {
		t.Errorf("the last record of %s from %d on: %d, %v; want %d", chain, from, got, err, want)
	}
}

func chainLife(t *testing.T, c pipeline.Chains) {
	const a, b = "7/net%2Fa@default", "7/net%2Fa@default2"
	wantLast(t, c, a, 0, 0)
	wantLink(t, c, a, 1, "")
	for n, data := range map[int]string{1: "one", 2: "two", 3: "three"} {
		if err := c.Add(t.Context(), a, n, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Add(t.Context(), b, 9, []byte("of another")); err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{"two", "forged"} {
		if err := c.Add(t.Context(), a, 2, []byte(data)); !errors.Is(err, pipeline.ErrConflict) {
			t.Errorf("record 2 is written again as %q: %v; want a conflict", data, err)
		}
	}
	wantLink(t, c, a, 2, "two")
	wantLink(t, c, a, 4, "")
	for _, from := range []int{0, 1, 3} {
		wantLast(t, c, a, from, 3)
	}
	wantLast(t, c, b, 0, 9)
	if v, ok := c.(visited); ok {
		var got []string
		err := v.Each(t.Context(), func(chain string, n int, data []byte) error {
			got = append(got, fmt.Sprintf("%s %d %s", chain, n, data))
			return nil
		})
		want := []string{a + " 1 one", a + " 2 two", a + " 3 three", b + " 9 of another"}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("visited %q, %v; want %q", got, err, want)
		}
	}
}

func chainRace(t *testing.T, c pipeline.Chains) {
	var won atomic.Int32
	var winner atomic.Pointer[string]
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			data := fmt.Sprint("writer ", i)
			switch err := c.Add(t.Context(), "7/x@default", 1, []byte(data)); {
			case err == nil:
				won.Add(1)
				winner.Store(&data)
			case !errors.Is(err, pipeline.ErrConflict):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Fatalf("%d of 8 writers have written record 1", won.Load())
	}
	wantLink(t, c, "7/x@default", 1, *winner.Load())
}

func chainMany(t *testing.T, c pipeline.Chains) {
	const last = 1_005 // S3 lists at most 1,000 objects at once
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for n := 1 + w; n <= last; n += 4 {
				if err := c.Add(t.Context(), "7/many@default", n, []byte("x")); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	for _, from := range []int{0, 4, 999, 1000, 1004, last} {
		wantLast(t, c, "7/many@default", from, last)
	}
}
