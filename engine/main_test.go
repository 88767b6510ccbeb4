package engine_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain has garbage collected seldom: a scenario is small, and is garbage at its end. That is a fifth of the
// scenarios' time. TestBombs, which looks at the heap, does without.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
