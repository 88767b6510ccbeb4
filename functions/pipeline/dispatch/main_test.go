package dispatch_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain has garbage collected seldom: a story is small, and is garbage at its end. That is an eighth of the package's time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
