package shadow

import "testing"

// TestHugeNumbers holds that sums of numbers in a comment do not overflow.
func TestHugeNumbers(t *testing.T) {
	t.Parallel()
	line := "Plan: 9223372036854775807 to add, 2147483647 to change, 3 to destroy.\n"
	if got := readText(line + line).Counts; got != (Counts{Change: 2 * 2147483647, Destroy: 6}) {
		t.Errorf("%+v", got)
	}
}
