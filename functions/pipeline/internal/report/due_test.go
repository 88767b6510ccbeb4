package report

import "testing"

// TestSyncsOfManyPlans holds that the comments are written a few times while the plans of a push are made, however many there
// are, and after the last of them.
func TestSyncsOfManyPlans(t *testing.T) {
	t.Parallel()
	for all := 21; all <= 2000; all++ {
		due := 0
		for made := 1; made <= all; made++ {
			if isDue(made, all-made) {
				due++
			}
		}
		if due > syncs+1 || all >= 100 && due < syncs || !isDue(all, 0) {
			t.Errorf("of %d plans: %d times", all, due)
		}
	}
}
