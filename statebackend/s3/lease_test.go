package s3

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

func term(run string) statebackend.Term {
	return statebackend.Term{Run: run, Until: time.Now().Add(time.Minute)}
}

func lease(t *testing.T, w *workspace, run string) string {
	t.Helper()
	info := statebackend.NewLockInfo("OperationTypeApply", "1")
	if l, err := w.LockLeased(t.Context(), info, term(run)); err != nil || l == nil {
		t.Fatalf("LockLeased: %v, %v", l, err)
	}
	return info.ID
}

func takeOver(t *testing.T, w *workspace, run string) {
	t.Helper()
	held, err := w.Locks(t.Context())
	if err != nil || len(held) == 0 || held[0].Lease == nil {
		t.Fatalf("%+v, %v", held, err)
	}
	if _, err := w.TakeOver(t.Context(), *held[0].Lease, term(run)); err != nil {
		t.Fatal(err)
	}
}

// failing lets writes fail whose name ends so.
func failing(f *statebackendtest.Faults, suffix string) {
	f.Decide = func(_ int, write string) statebackendtest.Fault {
		if strings.HasSuffix(write, suffix) {
			return statebackendtest.Failed
		}
		return statebackendtest.None
	}
}

// A run dies between the object and its digest, and the run that takes its lock over dies as soon as it
// has announced another state: the first announcement must not be lost with the second.
func TestTakeoversRepairTheDigest(t *testing.T) {
	t.Parallel()
	faults := new(statebackendtest.Faults)
	p := newPlace(t, &statebackendtest.S3{Faults: faults}, &statebackendtest.DynamoDB{Faults: faults})
	dead := p.open(t)
	v := put(t, dead, state1, "")
	lease(t, dead, "a")
	failing(faults, "-md5")
	if _, err := dead.Put(t.Context(), []byte(state2), v); err == nil {
		t.Fatal("no error")
	}
	faults.Decide = nil
	if p.digest() != digestOf([]byte(state1)) {
		t.Fatalf("the digest is %q", p.digest())
	}
	heir := p.open(t)
	takeOver(t, heir, "b")
	if p.digest() != digestOf([]byte(state2)) {
		t.Errorf("after the takeover the digest is %q", p.digest())
	}
	now, err := heir.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	failing(faults, ".tfstate")
	if _, err := heir.Put(t.Context(), []byte(`{"serial":3}`), now.Version); err == nil {
		t.Fatal("no error")
	}
	faults.Decide = nil
	p.wantState(t, state2)
}

// The object of a deposed run arrives after the takeover, and its digest never: whoever reads it must
// know it by what the deposed has announced, whatever was announced since.
func TestALateObjectHasItsAnnouncement(t *testing.T) {
	t.Parallel()
	faults := new(statebackendtest.Faults)
	p := newPlace(t, &statebackendtest.S3{Faults: faults}, new(statebackendtest.DynamoDB))
	dead := p.open(t)
	v := put(t, dead, state1, "")
	id := lease(t, dead, "a")
	failing(faults, ".tfstate")
	if _, err := dead.Put(t.Context(), []byte(state2), v); err == nil {
		t.Fatal("no error")
	}
	faults.Decide = nil
	heir := p.open(t)
	takeOver(t, heir, "b")
	failing(faults, ".tfstate")
	if _, err := heir.Put(t.Context(), []byte(`{"serial":3}`), v); err == nil { // it is announced
		t.Fatal("no error")
	}
	faults.Decide = nil
	if _, err := dead.objects.put(t.Context(), dead.key, []byte(state2), string(v)); err != nil {
		t.Fatal(err)
	}
	p.wantState(t, state2)
	var conflict *statebackend.ConflictError
	if _, err := heir.Put(t.Context(), []byte(`{"serial":3}`), v); !errors.As(err, &conflict) {
		t.Errorf("Put: %v; want a conflict", err)
	}
	p.wantState(t, state2)
	if err := heir.Unlock(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if p.digest() != digestOf([]byte(state2)) {
		t.Errorf("after Unlock the digest is %q", p.digest())
	}
	p.wantState(t, state2)
}

// Without the rights to a lease nobody may think that there is one: an incomplete lock is released by
// others.
func TestALockWithoutTheRightsToALease(t *testing.T) {
	t.Parallel()
	for _, denied := range []string{"GET", "PUT"} {
		s3 := &statebackendtest.S3{Deny: func(method, key string) bool { return method == denied && strings.HasSuffix(key, "/lease") }}
		p := newPlace(t, s3, new(statebackendtest.DynamoDB), map[string]any{"dynamodb_table": nil, "use_lockfile": true})
		w := p.open(t)
		info := statebackend.NewLockInfo("OperationTypeApply", "1")
		l, err := w.LockLeased(t.Context(), info, term("a"))
		if err != nil || l != nil {
			t.Fatalf("without %s: %v, %v", denied, l, err)
		}
		held, err := p.open(t).Locks(t.Context())
		if err != nil || len(held) != 1 || held[0].Lease != nil || strings.Contains(held[0].Info.Info, "Lockstep run") {
			t.Errorf("without %s: %+v, %v", denied, held, err)
		}
		put(t, w, state1, "")
		if err := w.Unlock(t.Context(), info.ID); err != nil {
			t.Error(err)
		}
	}
}

// Who looks for leases in another place than where one is must not miss it there, and take the lock for
// an incomplete one.
func TestALeaseInAnotherPlace(t *testing.T) {
	t.Parallel()
	p := newPlace(t, new(statebackendtest.S3), new(statebackendtest.DynamoDB))
	lease(t, p.open(t), "a")
	other := p.open(t)
	other.items = nil
	held, err := other.Locks(t.Context())
	if err != nil || len(held) != 1 || held[0].Lease != nil {
		t.Errorf("without the table: %+v, %v", held, err)
	}

	p = newPlace(t, new(statebackendtest.S3), new(statebackendtest.DynamoDB), map[string]any{"dynamodb_table": nil})
	lease(t, p.open(t), "a")
	other = p.open(t)
	b := newPlace(t, new(statebackendtest.S3), p.dynamodb)
	other.items = b.open(t).items
	held, err = other.Locks(t.Context())
	if err != nil || len(held) != 1 || held[0].Lease != nil {
		t.Errorf("with a table: %+v, %v", held, err)
	}
}

// A lease that cannot be read is nobody's to take over.
func TestADamagedLease(t *testing.T) {
	t.Parallel()
	p := newPlace(t, new(statebackendtest.S3), new(statebackendtest.DynamoDB))
	lease(t, p.open(t), "a")
	item := p.dynamodb.Item(p.path)
	item["LockstepLease"] = "{"
	p.dynamodb.SetItem(p.path, item)
	if held, err := p.open(t).Locks(t.Context()); err != nil || len(held) != 2 || held[0].Lease != nil || held[1].Lease != nil {
		t.Errorf("an item: %+v, %v", held, err)
	}

	p = newPlace(t, new(statebackendtest.S3), new(statebackendtest.DynamoDB), map[string]any{"dynamodb_table": nil})
	w := p.open(t)
	lease(t, w, "a")
	p.s3.SetObject("states/"+JournalOf(w.key)+"lease", []byte("{"))
	if held, err := p.open(t).Locks(t.Context()); err != nil || len(held) != 1 || held[0].Lease != nil {
		t.Errorf("an object: %+v, %v", held, err)
	}
}

// A lock that was not complete in time may have been released by others before it is.
func TestALockThatTakesTooLong(t *testing.T) {
	t.Parallel()
	for _, table := range []any{nil, "locks"} {
		p := newPlace(t, new(statebackendtest.S3), new(statebackendtest.DynamoDB), map[string]any{"dynamodb_table": table})
		w := p.open(t)
		info := statebackend.NewLockInfo("OperationTypeApply", "1")
		info.Created = info.Created.Add(-2 * statebackend.FirstLease)
		if l, err := w.LockLeased(t.Context(), info, term("a")); err == nil {
			t.Errorf("%+v", l)
		}
		if p.objectLock() != "" || p.itemLock() != "" {
			t.Error("a lock is left")
		}
	}
}
