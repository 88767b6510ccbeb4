package s3

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

func (p place) objectLock() string {
	data, _ := p.s3.Object(p.path + ".tflock")
	return string(data)
}

func (p place) itemLock() string { return p.dynamodb.Item(p.path)["Info"] }

func TestLockBytes(t *testing.T) {
	t.Parallel()
	p := newPlace(t, new(statebackendtest.S3), new(statebackendtest.DynamoDB))
	w := p.open(t)
	info := statebackend.LockInfo{
		ID: "0a1b2c3d-0000-4000-8000-000000000000", Operation: "OperationTypeApply", Info: "run <7> & more",
		Who: "me@host", Version: "1.11.4", Created: time.Date(2026, 11, 20, 10, 11, 12, 120_000_000, time.FixedZone("", 3600)),
	}
	if _, err := w.Lock(t.Context(), info); err != nil {
		t.Fatal(err)
	}
	want := `{"ID":"0a1b2c3d-0000-4000-8000-000000000000","Operation":"OperationTypeApply","Info":"run \u003c7\u003e \u0026 more",` +
		`"Who":"me@host","Version":"1.11.4","Created":"2026-11-20T09:11:12.12Z","Path":"` + p.path + `"}`
	if got := p.objectLock(); got != want {
		t.Errorf("lock object %s\nwant        %s", got, want)
	}
	if got := p.itemLock(); got != want {
		t.Errorf("lock item %s\nwant      %s", got, want)
	}
	put(t, w, state1, "")
	if got := p.itemLock(); got != want {
		t.Errorf("after a write the lock item says %s", got)
	}
}

// Force-unlock, with what is left of a lock.
func TestUnlockOfWhatIsLeft(t *testing.T) {
	t.Parallel()
	for _, c := range configurations[1:] { // with rights to both in any case
		for _, gone := range []string{"object", "item"} {
			if gone == "item" && c.attributes["dynamodb_table"] == nil {
				continue
			}
			t.Run(c.name+" without the "+gone, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t, new(statebackendtest.S3), new(statebackendtest.DynamoDB), map[string]any{"dynamodb_table": nil}, c.attributes)
				id := p.lock(t, p.open(t))
				want := error(nil)
				if gone == "item" {
					p.dynamodb.SetItem(p.path, nil)
				} else {
					p.s3.SetObject(p.path+".tflock", nil)
					if len(c.kinds) == 1 {
						want = statebackend.ErrNotLocked
					}
				}
				if err := p.open(t).Unlock(t.Context(), id); err != want {
					t.Errorf("Unlock: %v, want %v", err, want)
				}
				if p.objectLock() != "" || p.itemLock() != "" {
					t.Error("something is left")
				}
				p.lock(t, p.open(t))
			})
		}
	}
}

func TestUnlockOfTwoDifferentLocks(t *testing.T) {
	t.Parallel()
	p := newPlace(t, new(statebackendtest.S3), new(statebackendtest.DynamoDB))
	mine := p.lock(t, p.open(t))
	other := statebackend.NewLockInfo("OperationTypePlan", "1")
	other.Who = "them@elsewhere"
	p.s3.SetObject(p.path+".tflock", other.Marshal())

	err := p.open(t).Unlock(t.Context(), statebackend.NewLockID())
	var mismatch *statebackend.LockMismatchError
	if !errors.As(err, &mismatch) || len(mismatch.Held) != 2 || !strings.Contains(err.Error(), mine) || !strings.Contains(err.Error(), "them@elsewhere") {
		t.Errorf("Unlock with a third ID: %v; want both holders named", err)
	}
	if err := p.open(t).Unlock(t.Context(), mine); err != nil {
		t.Fatal(err)
	}
	if p.itemLock() != "" || p.objectLock() != string(other.Marshal()) {
		t.Errorf("item %q, object %q; want only the other's object", p.itemLock(), p.objectLock())
	}
	if len(*p.notes) != 1 || !strings.Contains((*p.notes)[0], other.ID) {
		t.Errorf("notes %q; want the other lock named", *p.notes)
	}
}

func TestSecondLockReleasesTheFirst(t *testing.T) {
	t.Parallel()
	p := newPlace(t, new(statebackendtest.S3), new(statebackendtest.DynamoDB))
	foreign := statebackend.NewLockInfo("OperationTypeApply", "1.5.0")
	p.dynamodb.SetItem(p.path, map[string]string{"LockID": p.path, "Info": string(foreign.Marshal())})
	_, err := p.open(t).Lock(t.Context(), statebackend.NewLockInfo("x", "1"))
	var locked *statebackend.LockedError
	if !errors.As(err, &locked) || locked.Kind != statebackend.TableLock || locked.Info.ID != foreign.ID {
		t.Errorf("Lock: %v; want a table lock of %s", err, foreign.ID)
	}
	if got := p.objectLock(); got != "" {
		t.Errorf("the lock object is left: %s", got)
	}
	if got := p.itemLock(); got != string(foreign.Marshal()) {
		t.Errorf("the other's item became %q", got)
	}
}

// ctx ends while the table's answer is on its way.
func TestInterruptedLockLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"PUT", "PutItem"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			faults := &statebackendtest.Faults{Decide: func(_ int, write string) statebackendtest.Fault {
				if strings.HasPrefix(write, at+" ") {
					cancel()
					return statebackendtest.Persisted
				}
				return statebackendtest.None
			}}
			p := newPlace(t, &statebackendtest.S3{Faults: faults}, &statebackendtest.DynamoDB{Faults: faults})
			if _, err := p.open(t).Lock(ctx, statebackend.NewLockInfo("x", "1")); err == nil {
				t.Fatal("no error")
			}
			if !slices.ContainsFunc(faults.Writes(), func(w string) bool { return strings.HasPrefix(w, at) }) {
				t.Fatalf("the test is void: writes %q", faults.Writes())
			}
			if p.objectLock() != "" || p.itemLock() != "" {
				t.Errorf("left: object %q, item %q", p.objectLock(), p.itemLock())
			}
		})
	}
}

func TestLockObjectWithoutRights(t *testing.T) {
	t.Parallel()
	denied := func(method, key string) bool { return strings.HasSuffix(key, ".tflock") }
	writeDenied := func(method, key string) bool { return method != "GET" && strings.HasSuffix(key, ".tflock") }

	t.Run("not asked for: a note", func(t *testing.T) {
		t.Parallel()
		p := newPlace(t, &statebackendtest.S3{Deny: denied}, new(statebackendtest.DynamoDB))
		w := p.open(t)
		id := p.lock(t, w)
		if len(*p.notes) != 1 || !strings.Contains((*p.notes)[0], "access denied") {
			t.Errorf("notes: %q", *p.notes)
		}
		put(t, w, state1, "")
		if held, err := w.Locks(t.Context()); err != nil || len(held) != 1 {
			t.Errorf("Locks = %v, %v", held, err)
		}
		if err := w.Unlock(t.Context(), id); err != nil {
			t.Error(err)
		}
		if len(*p.notes) != 1 {
			t.Errorf("notes: %q", *p.notes)
		}
	})
	t.Run("not asked for, but somebody else's is there", func(t *testing.T) {
		t.Parallel()
		p := newPlace(t, &statebackendtest.S3{Deny: writeDenied}, new(statebackendtest.DynamoDB))
		foreign := statebackend.NewLockInfo("OperationTypeApply", "1.11.4")
		p.s3.SetObject(p.path+".tflock", foreign.Marshal())
		_, err := p.open(t).Lock(t.Context(), statebackend.NewLockInfo("x", "1"))
		var locked *statebackend.LockedError
		if !errors.As(err, &locked) || locked.Info.ID != foreign.ID {
			t.Errorf("Lock: %v; want a lock of %s", err, foreign.ID)
		}
	})
	t.Run("asked for: an error", func(t *testing.T) {
		t.Parallel()
		p := newPlace(t, &statebackendtest.S3{Deny: denied}, new(statebackendtest.DynamoDB), map[string]any{"use_lockfile": true})
		_, err := p.open(t).Lock(t.Context(), statebackend.NewLockInfo("x", "1"))
		if !errors.Is(err, statebackend.ErrDenied) {
			t.Errorf("Lock: %v; want access denied", err)
		}
		if p.itemLock() != "" {
			t.Error("the item is left")
		}
	})
	t.Run("the right to write without that to delete", func(t *testing.T) {
		t.Parallel()
		p := newPlace(t, &statebackendtest.S3{Deny: func(method, _ string) bool { return method == "DELETE" }}, new(statebackendtest.DynamoDB))
		w := p.open(t)
		id := p.lock(t, w)
		if err := w.Unlock(t.Context(), id); !errors.Is(err, statebackend.ErrDenied) || !strings.Contains(err.Error(), ".tflock") {
			t.Errorf("Unlock: %v; want access denied to the lock object", err)
		}
		if p.itemLock() != "" {
			t.Error("the item was not released because the object could not be")
		}
	})
}

// TestMissingKey holds that a key to encrypt with that is not there is named, and taken
// neither for a lock that somebody holds nor for a state that somebody wrote.
func TestMissingKey(t *testing.T) {
	t.Parallel()
	p := newPlace(t, new(statebackendtest.S3), new(statebackendtest.DynamoDB), map[string]any{"encrypt": true, "kms_key_id": "alias/missing"})
	w := p.open(t)
	_, lockErr := w.Lock(t.Context(), statebackend.NewLockInfo("x", "1"))
	p.s3.SetObject(p.path, []byte("{}"))
	snap, err := w.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, putErr := w.Put(t.Context(), []byte("{ }"), snap.Version)
	for what, err := range map[string]error{"Lock": lockErr, "Put": putErr} {
		var locked *statebackend.LockedError
		if err == nil || errors.As(err, &locked) || errors.As(err, new(*statebackend.ConflictError)) || !strings.Contains(err.Error(), "KMS.NotFoundException") {
			t.Errorf("%s: %v; want the missing key", what, err)
		}
	}
}

// A run of ours died, and somebody released its item with an old tool.
func TestStaleLockObject(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name           string
		ended, hasItem bool
		clears         bool
	}{
		{"of a run that ended, without item", true, false, true},
		{"of a run that ended, with item", true, true, false},
		{"of somebody else", false, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, new(statebackendtest.S3), new(statebackendtest.DynamoDB))
			dead := p.lock(t, p.open(t))
			if !test.hasItem {
				p.dynamodb.SetItem(p.path, nil)
			}
			p.backend.options.EndedRun = func(id string) bool { return test.ended && id == dead }
			_, err := p.open(t).Lock(t.Context(), statebackend.NewLockInfo("x", "1"))
			var locked *statebackend.LockedError
			switch {
			case test.clears && err != nil:
				t.Error(err)
			case !test.clears && (!errors.As(err, &locked) || locked.Info.ID != dead):
				t.Errorf("Lock: %v; want the lock of %s", err, dead)
			}
		})
	}
}

// Somebody wrote the item by hand, or an update created it anew.
func TestLockItemWithoutInfo(t *testing.T) {
	t.Parallel()
	p := newPlace(t, new(statebackendtest.S3), new(statebackendtest.DynamoDB))
	p.dynamodb.SetItem(p.path, map[string]string{"LockID": p.path, "Other": "x"})
	_, err := p.open(t).Lock(t.Context(), statebackend.NewLockInfo("x", "1"))
	var locked *statebackend.LockedError
	if !errors.As(err, &locked) || !strings.Contains(err.Error(), "unknown holder") {
		t.Errorf("Lock: %v; want the lock of an unknown holder", err)
	}
	if p.dynamodb.Item(p.path) == nil || p.objectLock() != "" {
		t.Error("the item was deleted, or the object is left")
	}
}

func TestLostLockObject(t *testing.T) {
	t.Parallel()
	p := newPlace(t, new(statebackendtest.S3), new(statebackendtest.DynamoDB))
	w := p.open(t)
	id := p.lock(t, w)
	p.s3.SetObject(p.path+".tflock", nil)
	_, err := w.Put(t.Context(), []byte(state1), "")
	var lost *statebackend.LockLostError
	if !errors.As(err, &lost) || lost.ID != id {
		t.Errorf("Put: %v; want a lost lock", err)
	}
}

// What else is in the item survives; what a stock tool does to it, too.
func TestExtraAttributesAreHarmless(t *testing.T) {
	t.Parallel()
	p := newPlace(t, new(statebackendtest.S3), new(statebackendtest.DynamoDB))
	w := p.open(t)
	id := p.lock(t, w)
	item := p.dynamodb.Item(p.path)
	item["LeaseUntil"] = "2026-11-20T10:00:00Z"
	p.dynamodb.SetItem(p.path, item)
	if err := w.Unlock(t.Context(), id); err != nil {
		t.Error(err)
	}
	// What the server has shown stays.
	if keys := fmt.Sprint(p.s3.Keys(), p.dynamodb.Keys()); keys != "[states/"+JournalOf(w.key)+conditionsName+"] []" {
		t.Errorf("left: %s", keys)
	}
}

// TestLockThatCannotBeRead holds that an unreadable lock is an error for a writer and for who
// asks for locks, and no free state.
func TestLockThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, denied := range []string{"object", "item"} {
		t.Run(denied, func(t *testing.T) {
			t.Parallel()
			var deny bool
			p := newPlace(t,
				&statebackendtest.S3{Deny: func(method, key string) bool {
					return deny && denied == "object" && method == "GET" && strings.HasSuffix(key, ".tflock")
				}},
				&statebackendtest.DynamoDB{Deny: func(operation, key string) bool {
					return deny && denied == "item" && operation == "GetItem" && !strings.HasSuffix(key, "-md5")
				}},
				map[string]any{"use_lockfile": true})
			w := p.open(t)
			v := put(t, w, state1, "")
			p.lock(t, w)
			deny = true
			if _, err := w.Locks(t.Context()); !errors.Is(err, statebackend.ErrDenied) {
				t.Errorf("Locks: %v", err)
			}
			if denied == "object" {
				if _, err := w.Put(t.Context(), []byte(state2), v); !errors.Is(err, statebackend.ErrDenied) {
					t.Errorf("Put: %v", err)
				}
				p.wantState(t, state1)
			}
		})
	}
}

// TestLockOfAnotherWithoutRights holds that a lock object which may be read, and not written,
// locks the state.
func TestLockOfAnotherWithoutRights(t *testing.T) {
	t.Parallel()
	p := newPlace(t, &statebackendtest.S3{Deny: func(method, key string) bool {
		return method == "PUT" && strings.HasSuffix(key, ".tflock")
	}}, new(statebackendtest.DynamoDB))
	info := statebackend.NewLockInfo("x", "1")
	p.s3.SetObject(p.path+".tflock", info.Marshal())
	_, err := p.open(t).Lock(t.Context(), statebackend.NewLockInfo("y", "1"))
	var locked *statebackend.LockedError
	if !errors.As(err, &locked) || locked.Info.ID != info.ID || err.Error() != locked.Error() {
		t.Errorf("Lock: %v", err)
	}
	if item := p.itemLock(); item != "" {
		t.Errorf("the lock item was taken: %s", item)
	}
}
