package changing

import "testing"

func TestGrowth(t *testing.T) {
	t.Parallel()
	const mebi = 1 << 20
	for _, c := range []struct {
		share int64
		inUse uint64
		want  int
	}{
		{150, 0, 800},
		{150, 4 * mebi, 800},
		{35, 16 * mebi, 200},
		{150, 128 * mebi, 100},
		{150, 256 * mebi, 50},
		{150, 4096 * mebi, leastShare},
		{35, 128 * mebi, 35},
		{35, 4096 * mebi, leastShare},
	} {
		if got := growth(c.share, c.inUse); got != c.want {
			t.Errorf("%d%% of %d: %d", c.share, c.inUse, got)
		}
	}
}
