package s3

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// stockConfiguration is a backend block of attributes, with a resource that needs
// no provider.
func stockConfiguration(attributes map[string]any) string {
	var b strings.Builder
	b.WriteString("terraform {\n  backend \"s3\" {\n")
	for name, value := range attributes {
		if endpoints, ok := value.(map[string]any); ok {
			fmt.Fprintf(&b, "    %s = { s3 = %q, dynamodb = %q }\n", name, endpoints["s3"], endpoints["dynamodb"])
		} else {
			fmt.Fprintf(&b, "    %s = %#v\n", name, value)
		}
	}
	b.WriteString("  }\n}\nvariable \"input\" {\n  default = \"a\"\n}\nresource \"terraform_data\" \"a\" {\n  input = var.input\n}\n")
	return b.String()
}

// A stock tool and we take turns on one state, on real servers, for each
// combination of locks.
func TestStockTool(t *testing.T) {
	t.Parallel()
	s := servers{statebackendtest.StartVersitygw(t), statebackendtest.StartDynoxide(t)}
	for _, c := range configurations[1:] {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			attributes := s.attributes(c.attributes, map[string]any{"skip_region_validation": true})
			stock := statebackendtest.NewStock(t, t.TempDir(), stockConfiguration(attributes))
			stock.Must("init", "-no-color")
			b := open(t, attributes, Options{})
			w, err := b.open("default")
			if err != nil {
				t.Fatal(err)
			}
			takeTurns(t, stock, w)
			theirLock(t, stock, w)
			ourLock(t, stock, w)
			brokenByTheStockTool(t, stock, b, w)
			theirWorkspace(t, stock, b)
		})
	}
}

// takeTurns: the state is made by the tool, replaced by us, read by the tool.
func takeTurns(t *testing.T, stock *statebackendtest.Stock, w *workspace) {
	stock.Must("apply", "-no-color", "-auto-approve")
	now, err := w.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(now.Bytes, &members); err != nil {
		t.Fatal(err)
	}
	members["serial"] = 41
	ours, err := json.MarshalIndent(members, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Put(t.Context(), ours, now.Version); err != nil {
		t.Fatal(err)
	}
	if output, code := stock.Run("plan", "-no-color", "-input=false", "-detailed-exitcode"); code != 0 {
		t.Errorf("plan after our write: exit %d\n%s", code, output)
	}
	if output := stock.Must("state", "pull"); !strings.Contains(output, `"serial": 41`) {
		t.Errorf("state pull: %s", output)
	}
	// What we read before is out of date once the tool has written.
	stock.Must("apply", "-no-color", "-auto-approve", "-var=input=b")
	var conflict *statebackend.ConflictError
	if _, err := w.Put(t.Context(), []byte(`{}`), now.Version); !errors.As(err, &conflict) {
		t.Errorf("Put over the tool's write: %v; want a conflict", err)
	}
}

// theirLock: the tool holds the lock while it waits for an answer.
func theirLock(t *testing.T, stock *statebackendtest.Stock, w *workspace) {
	apply := stock.Start("apply", "-no-color", "-var=input=c")
	held := statebackendtest.WaitForLock(t, w)
	_, err := w.Lock(t.Context(), statebackend.NewLockInfo("OperationTypePlan", "1"))
	var locked *statebackend.LockedError
	if !errors.As(err, &locked) || locked.Info.ID != held.Info.ID || locked.Info.Operation != "OperationTypeApply" {
		t.Errorf("Lock: %v; want the lock of the stock tool", err)
	}
	if output, code := apply.Answer("no"); code != 1 || !strings.Contains(output, "Apply cancelled") {
		t.Errorf("apply: exit %d\n%s", code, output)
	}
	if held, err := w.Locks(t.Context()); err != nil || len(held) > 0 {
		t.Errorf("afterwards Locks = %v, %v", held, err)
	}

	// Nobody answers; a person uses our force-unlock.
	apply = stock.Start("apply", "-no-color", "-var=input=c")
	held = statebackendtest.WaitForLock(t, w)
	for { // until it has all that it takes
		if all, err := w.Locks(t.Context()); err != nil {
			t.Fatal(err)
		} else if len(all) == 2 || w.items == nil || !w.useLockfile {
			break
		}
	}
	if err := w.Unlock(t.Context(), held.Info.ID); err != nil {
		t.Error(err)
	}
	if held, err := w.Locks(t.Context()); err != nil || len(held) > 0 {
		t.Errorf("after our force-unlock Locks = %v, %v", held, err)
	}
	apply.Answer("no")
}

// ourLock keeps the tool out, and is shown by it.
func ourLock(t *testing.T, stock *statebackendtest.Stock, w *workspace) {
	info := statebackend.NewLockInfo("OperationTypeApply", "1.2.3")
	info.Info = "Lockstep run <7>"
	id, err := w.Lock(t.Context(), info)
	if err != nil {
		t.Fatal(err)
	}
	output, code := stock.Run("plan", "-no-color", "-input=false")
	if code != 1 || !strings.Contains(output, id) || !strings.Contains(output, "Lockstep run <7>") || !strings.Contains(output, info.Who) {
		t.Errorf("plan under our lock: exit %d\n%s", code, output)
	}
	if err := w.Unlock(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	stock.Must("plan", "-no-color", "-input=false")
}

// brokenByTheStockTool: its force-unlock releases the locks that it knows; ours
// what is left.
func brokenByTheStockTool(t *testing.T, stock *statebackendtest.Stock, b *Backend, w *workspace) {
	id, err := w.Lock(t.Context(), statebackend.NewLockInfo("OperationTypeApply", "1.2.3"))
	if err != nil {
		t.Fatal(err)
	}
	now, err := w.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	stock.Must("force-unlock", "-no-color", "-force", id)
	var lost *statebackend.LockLostError
	if _, err := w.Put(t.Context(), []byte(`{}`), now.Version); !errors.As(err, &lost) {
		t.Errorf("Put after the tool's force-unlock: %v; want a lost lock", err)
	}
	other, err := b.open("default")
	if err != nil {
		t.Fatal(err)
	}
	held, err := other.Locks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(held) > 0 { // the object, where the tool's block names a table only
		if err := other.Unlock(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	if held, err := other.Locks(t.Context()); err != nil || len(held) > 0 {
		t.Errorf("left: %v, %v", held, err)
	}
}

// theirWorkspace is made by the tool, listed and deleted by us.
func theirWorkspace(t *testing.T, stock *statebackendtest.Stock, b *Backend) {
	stock.Must("workspace", "new", "-no-color", "staging")
	names, err := b.Workspaces(t.Context())
	if err != nil || fmt.Sprint(names) != "[default staging]" {
		t.Errorf("Workspaces = %q, %v", names, err)
	}
	w, err := b.Open("staging")
	if err != nil {
		t.Fatal(err)
	}
	now, err := w.Get(t.Context())
	if err != nil || now.Bytes == nil {
		t.Fatalf("Get = %s, %v", now.Bytes, err)
	}
	if err := b.DeleteWorkspace(t.Context(), "staging", now.Version); err != nil {
		t.Error(err)
	}
	if output := stock.Must("workspace", "list", "-no-color"); strings.Contains(output, "staging") {
		t.Errorf("workspace list: %s", output)
	}
}
