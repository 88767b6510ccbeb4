package pg

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// The stock tool and Lockstep read and write the same state, and each waits for the other's lock.
func TestStockTool(t *testing.T) {
	t.Parallel()
	connection := statebackendtest.StartPostgres(t)
	stock := statebackendtest.NewStock(t, t.TempDir(), fmt.Sprintf(`terraform {
  backend "pg" {
    conn_str    = %q
    schema_name = "ours"
  }
}
resource "terraform_data" "a" {
  input = "a"
}
`, connection))
	open := func() *Backend {
		b, err := Open(t.Context(), map[string]any{"conn_str": connection, "schema_name": "ours"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.db.Close() })
		return b
	}
	// Ours is first: the tool finds our table, and under our lock an empty state.
	b := open()
	w := opened(t, b, "default")
	id := lock(t, w)
	stock.Must("init", "-no-color")
	if out, code := stock.Run("apply", "-no-color", "-auto-approve"); code == 0 || !strings.Contains(out, "already locked") {
		t.Fatalf("apply under our lock: exit %d\n%s", code, out)
	}
	waiting := stock.Start("apply", "-no-color", "-auto-approve", "-lock-timeout=60s")
	time.Sleep(2 * time.Second)
	if err := w.Unlock(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if out, code := waiting.Answer(""); code != 0 {
		t.Fatalf("apply that waited: exit %d\n%s", code, out)
	}
	now, err := w.Get(t.Context())
	if err != nil || !strings.Contains(string(now.Bytes), `"terraform_data"`) {
		t.Fatalf("Get = %s, %v", now.Bytes, err)
	}

	// The tool holds the lock while it asks.
	asking := stock.Start("apply", "-no-color", "-replace=terraform_data.a")
	held := statebackendtest.WaitForLock(t, w)
	if held.Kind != statebackend.SessionLock || held.Info.Who != "test@127.0.0.1" {
		t.Errorf("their lock: %v", held)
	}
	var locked *statebackend.LockedError
	if _, err := w.Lock(t.Context(), statebackend.NewLockInfo("OperationTypeApply", "1.2.3")); !errors.As(err, &locked) {
		t.Errorf("Lock under theirs: %v", err)
	}
	if out, code := asking.Answer("yes"); code != 0 {
		t.Fatalf("apply: exit %d\n%s", code, out)
	}
	if id, err = statebackend.LockWithRetry(t.Context(), w, statebackend.NewLockInfo("OperationTypeApply", "1.2.3"), 10*time.Second); err != nil {
		t.Fatal(err)
	}
	now, err = w.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	next := strings.Replace(string(now.Bytes), `"outputs": {}`, `"outputs": {"o": {"value": "ours", "type": "string"}}`, 1)
	if _, err := w.Put(t.Context(), []byte(next), now.Version); err != nil {
		t.Fatal(err)
	}
	if err := w.Unlock(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if out := stock.Must("output", "-no-color", "o"); !strings.Contains(out, "ours") {
		t.Errorf("output: %s", out)
	}

	stock.Must("workspace", "new", "-no-color", "staging")
	if names, err := b.Workspaces(t.Context()); err != nil || fmt.Sprint(names) != "[default staging]" {
		t.Errorf("Workspaces = %q, %v", names, err)
	}
	staging := opened(t, b, "staging")
	if now, err = staging.Get(t.Context()); err != nil || now.Bytes == nil {
		t.Fatalf("Get = %s, %v", now.Bytes, err)
	}
	if err := b.DeleteWorkspace(t.Context(), "staging", now.Version); err != nil {
		t.Error(err)
	}
	stock.Must("workspace", "select", "-no-color", "default")
	if out := stock.Must("workspace", "list", "-no-color"); strings.Contains(out, "staging") {
		t.Errorf("workspace list: %s", out)
	}

	// What a dead process of ours leaves is an empty state for the tool.
	dead := opened(t, b, "dead")
	lock(t, dead)
	dead.held.stub = "" // so that the row stays
	if err := dead.Unlock(t.Context(), dead.held.info.ID); err != nil {
		t.Fatal(err)
	}
	stock.Must("workspace", "select", "-no-color", "dead")
	if out := stock.Must("state", "list"); out != "" {
		t.Errorf("state list: %s", out)
	}
	stock.Must("apply", "-no-color", "-auto-approve")
	if now, err = dead.Get(t.Context()); err != nil || !strings.Contains(string(now.Bytes), `"terraform_data"`) {
		t.Errorf("Get = %s, %v", now.Bytes, err)
	}
}
