package demo

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestWorkerEndsTooSoon holds that a story whose worker does all its work, and is not killed, goes wrong.
func TestWorkerEndsTooSoon(t *testing.T) {
	t.Parallel()
	w, err := New(Options{Dir: t.TempDir(), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	w.repo.Push("alice", "names", "A name", githubtest.Files{"README.md": "x"})
	w.repo.OpenPull("alice", "A name", "names")
	if _, err := w.hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.killWorker(t.Context(), "never written"); err == nil || !strings.Contains(err.Error(), "did not come to the moment of its end") {
		t.Errorf("%v", err)
	}
	if n, err := w.machine.Settle(t.Context()); n != 0 || err != nil {
		t.Errorf("the worker has left %d messages, %v", n, err)
	}
}
