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
	if _, err := dead.objects.Put(t.Context(), dead.key, []byte(state2), string(v)); err != nil {
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

// Without the rights to the lock object there is no lock, and nobody may think that there is a lease.
func TestALockWithoutTheRightsToALease(t *testing.T) {
	t.Parallel()
	s3 := &statebackendtest.S3{Deny: func(method, key string) bool { return method == "PUT" && strings.HasSuffix(key, ".tflock") }}
	p := newPlace(t, s3, new(statebackendtest.DynamoDB), map[string]any{"dynamodb_table": nil})
	w := p.open(t)
	l, err := w.LockLeased(t.Context(), statebackend.NewLockInfo("OperationTypeApply", "1"), term("a"))
	if err != nil || l != nil {
		t.Fatalf("%v, %v", l, err)
	}
	if held, err := p.open(t).Locks(t.Context()); err != nil || len(held) != 0 {
		t.Errorf("%+v, %v", held, err)
	}
	put(t, w, state1, "")
}

// The lock of an earlier version has its lease in another object. Nobody may take it for a lock without one, whose
// time is over.
func TestALockOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	p := newPlace(t, new(statebackendtest.S3), new(statebackendtest.DynamoDB), map[string]any{"dynamodb_table": nil})
	info := statebackend.NewLockInfo("OperationTypeApply", "1")
	info.Info = statebackend.LeaseInfo("", "a", "")
	info.Created = info.Created.Add(-time.Hour)
	p.s3.SetObject(p.path+".tflock", info.Marshal())
	if held, err := p.open(t).Locks(t.Context()); err != nil || len(held) != 1 || held[0].Lease != nil {
		t.Errorf("%+v, %v", held, err)
	}
}

// Who looks for leases in another place than where one is must not miss it there, and take the lock for
// an incomplete one.
func TestALeaseInAnotherPlace(t *testing.T) {
	t.Parallel()
	p := newPlace(t, new(statebackendtest.S3), new(statebackendtest.DynamoDB))
	lease(t, p.open(t), "a")
	other := p.open(t)
	other.items, other.file.Leases = nil, true
	held, err := other.Locks(t.Context())
	if err != nil || len(held) != 1 || held[0].Lease != nil {
		t.Errorf("without the table: %+v, %v", held, err)
	}

	p = newPlace(t, new(statebackendtest.S3), new(statebackendtest.DynamoDB), map[string]any{"dynamodb_table": nil})
	lease(t, p.open(t), "a")
	other = p.open(t)
	b := newPlace(t, new(statebackendtest.S3), p.dynamodb)
	other.items, other.file.Leases = b.open(t).items, false
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
	lease(t, p.open(t), "a")
	p.s3.SetObject(p.path+".tflock", []byte(strings.Replace(p.objectLock(), "fence", "fense", 1)))
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

// On Amazon S3 a leased lock is one request, and its release another. A server at an address of its own shows first
// what it does with conditions, and gives the lease back before it deletes.
func TestRequestsOfALock(t *testing.T) {
	t.Parallel()
	for amazon, want := range map[bool]string{
		true:  "PUT lock, DELETE lock",
		false: "PUT conditions, PUT lock, PUT lock, DELETE lock",
	} {
		faults := new(statebackendtest.Faults)
		p := newPlace(t, &statebackendtest.S3{Faults: faults}, new(statebackendtest.DynamoDB), map[string]any{"dynamodb_table": nil})
		p.backend.objects.amazon = false
		first := p.open(t)
		if err := first.Unlock(t.Context(), lease(t, first, "before")); err != nil { // the server has shown it before
			t.Fatal(err)
		}
		p.backend.objects.conditions.proven = false
		faults.Forget()
		p.backend.objects.amazon = amazon
		w := p.open(t)
		if err := w.Unlock(t.Context(), lease(t, w, "a")); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(faults.Writes(), ", ")
		got = strings.ReplaceAll(got, w.key+".tflock", "lock")
		if got = strings.ReplaceAll(got, JournalOf(w.key), ""); got != want {
			t.Errorf("amazon %t: %s, want %s", amazon, got, want)
		}
	}
}

// Amazon S3 is recognized by its address.
func TestAmazonIsKnownByItsAddress(t *testing.T) {
	t.Parallel()
	s := servers{"http://127.0.0.1:1", "http://127.0.0.1:1"}
	if open(t, s.attributes(), Options{}).objects.amazon {
		t.Error("another server is taken for Amazon S3")
	}
	if !open(t, s.attributes(map[string]any{"endpoints": map[string]any{"dynamodb": s.dynamodb}}), Options{}).objects.amazon {
		t.Error("Amazon S3 is taken for another server")
	}
}

// A lock that another one has taken since is not deleted, whatever the server does with the condition of a deletion.
func TestAnothersLockIsNotDeleted(t *testing.T) {
	t.Parallel()
	for _, amazon := range []bool{false, true} {
		for _, refuses := range []bool{false, true} {
			p := newPlace(t, &statebackendtest.S3{NoConditionalDelete: refuses}, new(statebackendtest.DynamoDB), map[string]any{"dynamodb_table": nil})
			p.backend.objects.amazon = amazon
			w := p.open(t)
			id := lease(t, w, "a")
			other := string(statebackend.NewLockInfo("OperationTypeApply", "1").Marshal())
			p.s3.SetObject(p.path+".tflock", []byte(other))
			var lost *statebackend.LockLostError
			if err := w.Unlock(t.Context(), id); !errors.As(err, &lost) {
				t.Errorf("amazon %t, refuses %t: %v, want that the lock is lost", amazon, refuses, err)
			}
			if p.objectLock() != other {
				t.Errorf("amazon %t, refuses %t: the lock is %q", amazon, refuses, p.objectLock())
			}
		}
	}
}
