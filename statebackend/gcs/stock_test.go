package gcs

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// The stock tool and Lockstep read and write the same state, and each refuses to work under the other's lock.
func TestStockTool(t *testing.T) {
	t.Parallel()
	url := statebackendtest.StartFakeGCS(t)
	// The tool's client sends no credentials to an emulator.
	stock := statebackendtest.NewStock(t, t.TempDir(), `terraform {
  backend "gcs" {
    bucket = "states"
    prefix = "ours"
  }
}
resource "terraform_data" "a" {
  input = "a"
}
`, "STORAGE_EMULATOR_HOST="+strings.TrimPrefix(url, "http://"), "GOOGLE_CREDENTIALS=", "GOOGLE_OAUTH_ACCESS_TOKEN=")
	stock.Must("init", "-no-color")
	stock.Must("apply", "-no-color", "-auto-approve")
	b := opened(t, map[string]any{"bucket": "states", "prefix": "ours", "storage_custom_endpoint": url, "access_token": "t"})
	w, err := b.open("default")
	if err != nil {
		t.Fatal(err)
	}
	id, err := w.Lock(t.Context(), statebackend.NewLockInfo("OperationTypeApply", "1.2.3"))
	if err != nil {
		t.Fatal(err)
	}
	if out, code := stock.Run("apply", "-no-color", "-auto-approve"); code == 0 || !strings.Contains(out, "Error acquiring the state lock") || !strings.Contains(out, "OperationTypeApply") {
		t.Fatalf("apply under our lock: exit %d\n%s", code, out)
	}
	now, err := w.Get(t.Context())
	if err != nil || !strings.Contains(string(now.Bytes), `"terraform_data"`) {
		t.Fatalf("Get = %s, %v", now.Bytes, err)
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

	asking := stock.Start("apply", "-no-color", "-replace=terraform_data.a")
	held := statebackendtest.WaitForLock(t, w)
	var locked *statebackend.LockedError
	if _, err := w.Lock(t.Context(), statebackend.NewLockInfo("OperationTypeApply", "1.2.3")); !errors.As(err, &locked) || locked.Info.ID != held.Info.ID {
		t.Errorf("Lock under theirs: %v", err)
	}
	if out, code := asking.Answer("yes"); code != 0 {
		t.Fatalf("apply: exit %d\n%s", code, out)
	}

	stock.Must("workspace", "new", "-no-color", "staging")
	if names, err := b.Workspaces(t.Context()); err != nil || fmt.Sprint(names) != "[default staging]" {
		t.Errorf("Workspaces = %q, %v", names, err)
	}
	staging, err := b.open("staging")
	if err != nil {
		t.Fatal(err)
	}
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
}
