package dispatch_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain has garbage collected when there is a gigabyte of it: a story is small, and is garbage at its end. That is an
// eighth of the package's time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(1 << 30)
	os.Exit(m.Run())
}
