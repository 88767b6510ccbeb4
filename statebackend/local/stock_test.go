package local

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

const stockConfiguration = `
variable "input" {
  default = "a"
}

resource "terraform_data" "a" {
  input = var.input
}
`

// stock is a directory with a stock tool's state in it, and the same for us.
func stock(t *testing.T) (*statebackendtest.Stock, *Backend, statebackend.Workspace) {
	t.Helper()
	dir := t.TempDir()
	s := statebackendtest.NewStock(t, dir, stockConfiguration)
	s.Must("init", "-no-color")
	s.Must("apply", "-no-color", "-auto-approve")
	b := open(t, dir)
	w, err := b.Open("default")
	if err != nil {
		t.Fatal(err)
	}
	return s, b, w
}

// withSerial is a state with another serial, as after a write of ours.
func withSerial(t *testing.T, state []byte, serial int) []byte {
	t.Helper()
	var members map[string]any
	if err := json.Unmarshal(state, &members); err != nil {
		t.Fatal(err)
	}
	members["serial"] = serial
	b, err := json.MarshalIndent(members, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestStockToolReadsOurStateAndRespectsOurLock(t *testing.T) {
	t.Parallel()
	s, _, w := stock(t)
	info := statebackend.NewLockInfo("OperationTypeApply", "1.2.3")
	info.Info = "Lockstep run 7"
	id, err := w.Lock(t.Context(), info)
	if err != nil {
		t.Fatal(err)
	}
	now, err := w.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Put(t.Context(), withSerial(t, now.Bytes, 41), now.Version); err != nil {
		t.Fatal(err)
	}
	output, code := s.Run("plan", "-no-color", "-input=false")
	if code != 1 || !strings.Contains(output, id) || !strings.Contains(output, "Lockstep run 7") {
		t.Errorf("plan under our lock: exit %d\n%s", code, output)
	}
	if err := w.Unlock(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if output, code := s.Run("plan", "-no-color", "-input=false", "-detailed-exitcode"); code != 0 {
		t.Errorf("plan after our write: exit %d\n%s", code, output)
	}
	if output := s.Must("state", "pull"); !strings.Contains(output, `"serial": 41`) {
		t.Errorf("state pull: %s", output)
	}
}

func TestWeRespectTheStockToolsLock(t *testing.T) {
	t.Parallel()
	s, b, w := stock(t)
	apply := s.Start("apply", "-no-color", "-var=input=b")
	held := statebackendtest.WaitForLock(t, w)
	if held.Info.Operation != "OperationTypeApply" {
		t.Errorf("held %+v", held)
	}
	_, err := w.Lock(t.Context(), statebackend.NewLockInfo("OperationTypePlan", "1"))
	var locked *statebackend.LockedError
	if !errors.As(err, &locked) || locked.Info.ID != held.Info.ID || locked.Info.Who == "" {
		t.Errorf("Lock: %v; want the lock of the stock tool", err)
	}
	if err := w.Unlock(t.Context(), held.Info.ID); err == nil || !strings.Contains(err.Error(), "still running") {
		t.Errorf("Unlock of a running process: %v", err)
	}
	// Looking at the lock has not broken it.
	other, err := b.Open("default")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Lock(t.Context(), statebackend.NewLockInfo("x", "1")); !errors.As(err, &locked) {
		t.Errorf("second Lock: %v", err)
	}
	if output, code := apply.Answer("yes"); code != 0 {
		t.Fatalf("apply: exit %d\n%s", code, output)
	}
	id, err := w.Lock(t.Context(), statebackend.NewLockInfo("x", "1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Unlock(t.Context(), id); err != nil {
		t.Fatal(err)
	}
}

// A stock tool that waits for our lock has the state file open meanwhile. It must
// see what we wrote, and we what it writes then: the reason why the file is
// rewritten in place.
func TestStockToolThatWaitsForOurLock(t *testing.T) {
	t.Parallel()
	s, b, w := stock(t)
	id, err := w.Lock(t.Context(), statebackend.NewLockInfo("x", "1"))
	if err != nil {
		t.Fatal(err)
	}
	apply := s.Start("apply", "-no-color", "-auto-approve", "-lock-timeout=60s", "-var=input=b")
	time.Sleep(2 * time.Second) // if it is slower than that, the test proves less
	now, err := w.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Put(t.Context(), withSerial(t, now.Bytes, 41), now.Version); err != nil {
		t.Fatal(err)
	}
	if err := w.Unlock(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if output, code := apply.Answer(""); code != 0 {
		t.Fatalf("apply: exit %d\n%s", code, output)
	}
	reader, err := b.Open("default")
	if err != nil {
		t.Fatal(err)
	}
	now, err = reader.Get(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var state struct{ Serial int }
	if err := json.Unmarshal(now.Bytes, &state); err != nil {
		t.Fatal(err)
	}
	if state.Serial <= 41 {
		t.Errorf("serial %d: one of the two writes is lost", state.Serial)
	}
}
