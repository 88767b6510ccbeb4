package demo

import (
	"context"
	"testing"
)

// TestInterruptedAtOnce holds that the end of the demo is no error, however early it comes.
func TestInterruptedAtOnce(t *testing.T) {
	t.Parallel()
	w, err := New(Options{Dir: t.TempDir(), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Live(ctx); err != nil {
		t.Error(err)
	}
}
