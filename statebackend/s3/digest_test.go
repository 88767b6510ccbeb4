package s3

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// place is a workspace of a backend with a table, on fake servers.
type place struct {
	s3       *statebackendtest.S3
	dynamodb *statebackendtest.DynamoDB
	backend  *Backend
	path     string // "<bucket>/<key>"
	notes    *[]string
}

func newPlace(t *testing.T, s3 *statebackendtest.S3, dynamodb *statebackendtest.DynamoDB, more ...map[string]any) place {
	t.Helper()
	s3.Start(t)
	dynamodb.Start(t)
	attributes := servers{s3.URL, dynamodb.URL}.attributes(append([]map[string]any{{"dynamodb_table": "locks", "max_retries": 0}}, more...)...)
	notes := new([]string)
	b := open(t, attributes, Options{Note: func(s string) { *notes = append(*notes, s) }})
	return place{s3, dynamodb, b, "states/" + attributes["key"].(string), notes}
}

func (p place) open(t *testing.T) *workspace {
	t.Helper()
	w, err := p.backend.open(statebackend.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (p place) setDigest(digest string) {
	p.dynamodb.SetItem(p.path+"-md5", map[string]string{"LockID": p.path + "-md5", "Digest": digest})
}

func (p place) digest() string { return p.dynamodb.Item(p.path + "-md5")["Digest"] }

func (p place) lock(t *testing.T, w statebackend.Locker) string {
	t.Helper()
	id, err := w.Lock(t.Context(), statebackend.NewLockInfo("OperationTypeApply", "1.2.3"))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func put(t *testing.T, w statebackend.Store, data string, prev statebackend.Version) statebackend.Version {
	t.Helper()
	v, err := w.Put(t.Context(), []byte(data), prev)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// wantState reads the state.
func (p place) wantState(t *testing.T, want string) {
	t.Helper()
	got, err := p.open(t).Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Bytes) != want {
		t.Errorf("Get = %s, want %s", got.Bytes, want)
	}
}

const (
	state1 = `{"serial":1}`
	state2 = `{"serial":2}`
)

func TestDigestItem(t *testing.T) {
	t.Parallel()
	p := newPlace(t, new(statebackendtest.S3), new(statebackendtest.DynamoDB))
	put(t, p.open(t), state1, "")
	const md5sum = "831e8c059d3cab92258db45450409e4b" // printf '{"serial":1}' | md5sum
	if got := p.digest(); got != md5sum {
		t.Errorf("Digest = %q, want %s", got, md5sum)
	}
	for _, stored := range []string{"", "none", "zz", "abcd"} { // no digest: no check
		p.setDigest(stored)
		p.wantState(t, state1)
	}
	p.dynamodb.SetItem(p.path+"-md5", nil)
	p.wantState(t, state1)
}

func TestDigestMismatch(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		object []byte
	}{{"another state", []byte(state1)}, {"no state", nil}, {"an empty object", []byte{}}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, new(statebackendtest.S3), new(statebackendtest.DynamoDB))
			p.s3.SetObject(p.path, test.object)
			p.setDigest(digestOf([]byte(state2)))
			_, err := p.open(t).Get(t.Context())
			var mismatch *DigestError
			if !errors.As(err, &mismatch) {
				t.Fatalf("Get: %v; want a *DigestError", err)
			}
			want := digestOf(test.object)
			if mismatch.Calculated != want || !strings.Contains(err.Error(), `Calculated digest: "`+want+`"`) {
				t.Errorf("the error does not show the calculated digest %q: %v", want, err)
			}
		})
	}
}

// A stock writer writes the object, and a moment later the digest.
func TestDigestIsWaitedFor(t *testing.T) {
	t.Parallel()
	var p place
	var reads atomic.Int64
	several := make(chan struct{})
	dynamodb := &statebackendtest.DynamoDB{Deny: func(operation, key string) bool {
		if operation == "GetItem" && strings.HasSuffix(key, "-md5") {
			if reads.Add(1) == 3 {
				close(several)
			}
		}
		return false
	}}
	p = newPlace(t, new(statebackendtest.S3), dynamodb)
	p.setDigest(digestOf([]byte(state2)))
	p.s3.SetObject(p.path, []byte(state1))
	p.backend.patience.limit = 1 << 40
	done := make(chan error)
	go func() {
		_, err := p.open(t).Get(context.WithoutCancel(t.Context()))
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatalf("Get did not wait: %v", err)
	case <-several:
	}
	p.s3.SetObject(p.path, []byte(state2))
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestUnreadableDigestIsANote(t *testing.T) {
	t.Parallel()
	p := newPlace(t, new(statebackendtest.S3), &statebackendtest.DynamoDB{
		Deny: func(operation, _ string) bool { return operation == "GetItem" },
	})
	p.s3.SetObject(p.path, []byte(state1))
	p.wantState(t, state1)
	if len(*p.notes) != 1 || !strings.Contains((*p.notes)[0], "access denied") {
		t.Errorf("notes: %q", *p.notes)
	}
}

// A run dies between the object and its digest.
func TestAnnouncedDigest(t *testing.T) {
	t.Parallel()
	faults := new(statebackendtest.Faults)
	p := newPlace(t, new(statebackendtest.S3), &statebackendtest.DynamoDB{Faults: faults})
	dead := p.open(t)
	v := put(t, dead, state1, "")
	id := p.lock(t, dead)
	faults.Decide = func(_ int, write string) statebackendtest.Fault {
		if strings.HasSuffix(write, "-md5") {
			return statebackendtest.Failed
		}
		return statebackendtest.None
	}
	if _, err := dead.Put(t.Context(), []byte(state2), v); err == nil || !strings.Contains(err.Error(), "its digest "+digestOf([]byte(state2))) {
		t.Errorf("Put: %v; want an error with the digest that is missing", err)
	}
	faults.Decide = nil

	if p.digest() != digestOf([]byte(state1)) {
		t.Fatalf("the digest is %q", p.digest())
	}
	p.wantState(t, state2) // while the dead run's lock is there

	// Who releases the lock puts the digest right, for stock tools.
	if err := p.open(t).Unlock(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if p.digest() != digestOf([]byte(state2)) {
		t.Errorf("after Unlock the digest is %q", p.digest())
	}
	p.wantState(t, state2)
}

// The holder's own digest write fails, and the holder unlocks: with the lock item goes
// the announcement, so the digest must be right before.
func TestAnnouncedDigestOfTheHolder(t *testing.T) {
	t.Parallel()
	faults := new(statebackendtest.Faults)
	p := newPlace(t, new(statebackendtest.S3), &statebackendtest.DynamoDB{Faults: faults})
	holder := p.open(t)
	v := put(t, holder, state1, "")
	id := p.lock(t, holder)
	faults.Decide = func(_ int, write string) statebackendtest.Fault {
		if strings.HasSuffix(write, "-md5") {
			return statebackendtest.Failed
		}
		return statebackendtest.None
	}
	if _, err := holder.Put(t.Context(), []byte(state2), v); err == nil {
		t.Fatal("no error")
	}
	faults.Decide = nil
	if err := holder.Unlock(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if p.digest() != digestOf([]byte(state2)) {
		t.Errorf("after Unlock the digest is %q", p.digest())
	}
	p.wantState(t, state2)
}

// What was announced and never written repairs nothing.
func TestAnnouncementOfAnotherState(t *testing.T) {
	t.Parallel()
	faults := new(statebackendtest.Faults)
	p := newPlace(t, &statebackendtest.S3{Faults: faults}, new(statebackendtest.DynamoDB))
	dead := p.open(t)
	v := put(t, dead, state1, "")
	id := p.lock(t, dead)
	faults.Decide = func(int, string) statebackendtest.Fault { return statebackendtest.Failed }
	if _, err := dead.Put(t.Context(), []byte(state2), v); err == nil {
		t.Fatal("no error")
	}
	faults.Decide = nil
	p.wantState(t, state1)
	if err := p.open(t).Unlock(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if p.digest() != digestOf([]byte(state1)) {
		t.Errorf("the digest is %q", p.digest())
	}
}

// A writer is suspended between the object and its digest; meanwhile others go on.
func TestLateDigest(t *testing.T) {
	t.Parallel()
	var p place
	var once bool
	faults := &statebackendtest.Faults{}
	p = newPlace(t, new(statebackendtest.S3), &statebackendtest.DynamoDB{Faults: faults})
	late := p.open(t)
	v := put(t, late, state1, "")
	faults.Decide = func(_ int, write string) statebackendtest.Fault {
		if once || !strings.HasSuffix(write, "-md5") {
			return statebackendtest.None
		}
		once = true
		// The server is busy with the late request; a stock writer's two writes
		// come before it.
		p.s3.SetObject(p.path, []byte(`{"serial":3}`))
		return statebackendtest.Failed
	}
	if _, err := late.Put(t.Context(), []byte(state2), v); err == nil {
		t.Fatal("no error")
	}
	faults.Decide = nil
	p.setDigest(digestOf([]byte(`{"serial":3}`)))
	var conflict *statebackend.ConflictError
	if _, err := late.Put(t.Context(), []byte(state2), v); !errors.As(err, &conflict) {
		t.Errorf("Put: %v; want a conflict", err)
	}
	p.wantState(t, `{"serial":3}`)
}

// A stock tool wrote a digest since we read it, but not the state.
func TestDigestThatMoved(t *testing.T) {
	t.Parallel()
	p := newPlace(t, new(statebackendtest.S3), new(statebackendtest.DynamoDB))
	w := p.open(t)
	v := put(t, w, state1, "")
	p.setDigest("0123456789abcdef0123456789abcdef")
	put(t, w, state2, v)
	p.wantState(t, state2)
}

func TestDeleteWorkspaceDeletesTheDigest(t *testing.T) {
	t.Parallel()
	p := newPlace(t, new(statebackendtest.S3), new(statebackendtest.DynamoDB))
	w, err := p.backend.Open("staging")
	if err != nil {
		t.Fatal(err)
	}
	v := put(t, w, state1, "")
	if err := p.backend.DeleteWorkspace(t.Context(), "staging", v); err != nil {
		t.Fatal(err)
	}
	if keys := append(p.s3.Keys(), p.dynamodb.Keys()...); len(keys) > 0 {
		t.Errorf("left: %q", keys)
	}
}

// TestDeleteWorkspaceFaults is a table of what becomes of a deletion when a request fails, with
// or without having been carried out, and when others write in between.
func TestDeleteWorkspaceFaults(t *testing.T) {
	t.Parallel()
	const object, digest, sidecar = "DELETE ", "DeleteItem ", "/digests"
	for _, test := range []struct {
		name  string
		write string
		fault statebackendtest.Fault
		other string // is written by another process then
		want  string // in the error; "" is success
		left  string
	}{
		{"nothing fails", object, statebackendtest.None, "", "", ""},
		{"the object's answer is lost", object, statebackendtest.Persisted, "", "", ""},
		{"the object is not deleted", object, statebackendtest.Failed, "", "InternalError", state1},
		{"another is written after the digest", digest, statebackendtest.None, state2, "changed in the meantime", state2},
		{"the digest's answer is lost", digest, statebackendtest.Persisted, "", "", ""},
		{"the sidecar is not deleted", sidecar, statebackendtest.Failed, "", "InternalError", state1},
		{"the digest is not deleted", digest, statebackendtest.Failed, "", "InternalServerError", state1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			faults := new(statebackendtest.Faults)
			p := newPlace(t, &statebackendtest.S3{Faults: faults}, &statebackendtest.DynamoDB{Faults: faults})
			w, err := p.backend.open("staging")
			if err != nil {
				t.Fatal(err)
			}
			v := put(t, w, state1, "")
			if err := p.backend.DeleteWorkspace(t.Context(), "staging", "another"); err == nil || !strings.Contains(err.Error(), "changed in the meantime") {
				t.Errorf("another version: %v", err)
			}
			faults.Decide = func(_ int, write string) statebackendtest.Fault {
				if !strings.Contains(write, test.write) || test.write == object && strings.HasSuffix(write, sidecar) {
					return statebackendtest.None
				}
				if test.other != "" {
					p.s3.SetObject(w.path(), []byte(test.other))
				}
				return test.fault
			}
			err = p.backend.DeleteWorkspace(t.Context(), "staging", v)
			if got := fmt.Sprint(err); test.want == "" && err != nil || !strings.Contains(got, test.want) {
				t.Errorf("DeleteWorkspace: %v, want %q", err, test.want)
			}
			if left, _ := p.s3.Object(w.path()); string(left) != test.left {
				t.Errorf("left: %q, want %q", left, test.left)
			}
		})
	}
}

// TestDeleteWorkspaceUnread holds that a state which cannot be read is not deleted.
func TestDeleteWorkspaceUnread(t *testing.T) {
	t.Parallel()
	p := newPlace(t, &statebackendtest.S3{Deny: func(method, _ string) bool { return method == "GET" }}, new(statebackendtest.DynamoDB))
	if err := p.backend.DeleteWorkspace(t.Context(), "staging", "v"); !errors.Is(err, statebackend.ErrDenied) {
		t.Errorf("DeleteWorkspace: %v", err)
	}
}
