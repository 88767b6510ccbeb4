package http_test

import (
	"encoding/pem"
	"errors"
	"io"
	"log"
	nethttp "net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/http"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

const (
	state1 = `{"serial":1}`
	state2 = `{"serial":2}`
)

// open returns the state behind a server; more are attributes: name, value, name, value...
func open(t *testing.T, h *statebackendtest.HTTP, more ...any) statebackend.Workspace {
	t.Helper()
	config := map[string]any{
		"address": h.URL, "lock_address": h.URL + "/lock", "unlock_address": h.URL + "/lock", "retry_max": 0,
	}
	for i := 0; i < len(more); i += 2 {
		config[more[i].(string)] = more[i+1]
	}
	b, err := http.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	w, err := b.Open(statebackend.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func put(t *testing.T, w statebackend.Store, data string, prev statebackend.Version) statebackend.Version {
	t.Helper()
	v, err := w.Put(t.Context(), []byte(data), prev)
	if err != nil {
		t.Fatalf("put %s: %v", data, err)
	}
	return v
}

func lock(t *testing.T, w statebackend.Locker) string {
	t.Helper()
	id, err := w.Lock(t.Context(), statebackend.NewLockInfo("OperationTypeApply", "1.11.4"))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// A state is written under its lock, read again, and the requests are the stock tool's.
func TestRun(t *testing.T) {
	t.Parallel()
	h := new(statebackendtest.HTTP).Start(t)
	w := open(t, h)
	id := lock(t, w)
	snap, err := w.Get(t.Context())
	if err != nil || snap.Bytes != nil || snap.Version != "" {
		t.Fatalf("at first: %+v, %v", snap, err)
	}
	v := put(t, w, state1, snap.Version)
	v2 := put(t, w, state2, v)
	if again := put(t, w, state2, v); again != v2 {
		t.Errorf("the same again has version %s, not %s", again, v2)
	}
	if err := w.Unlock(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if err := w.Unlock(t.Context(), id); !errors.Is(err, statebackend.ErrNotLocked) {
		t.Errorf("unlocked twice: %v", err)
	}
	if snap, err := open(t, h).Get(t.Context()); err != nil || string(snap.Bytes) != state2 || snap.Version != v2 {
		t.Errorf("read: %s %s, %v", snap.Bytes, snap.Version, err)
	}
	if log := h.Log(); !slices.Contains(log, "POST /state?ID="+id) || log[0] != "LOCK /state/lock" {
		t.Errorf("requests: %q", log)
	}
}

// Another state than the one that was read is not written over.
func TestConflict(t *testing.T) {
	t.Parallel()
	h := new(statebackendtest.HTTP).Start(t)
	w := open(t, h)
	v := put(t, w, state1, "")
	h.SetState(`{"serial":7}`)
	var conflict *statebackend.ConflictError
	if _, err := w.Put(t.Context(), []byte(state2), v); !errors.As(err, &conflict) || conflict.Want != v || conflict.Found == "" {
		t.Errorf("%v; want a conflict", err)
	}
	h.SetState("")
	if _, err := w.Put(t.Context(), []byte(state2), v); !errors.As(err, &conflict) {
		t.Errorf("over a deleted state: %v; want a conflict", err)
	}
	if got := h.State(); got != "" {
		t.Errorf("%s was written", got)
	}
}

// Locks of others are respected, and theirs to release, but by their ID.
func TestLocks(t *testing.T) {
	t.Parallel()
	h := new(statebackendtest.HTTP).Start(t)
	theirs, mine := open(t, h), open(t, h)
	id := lock(t, theirs)
	var locked *statebackend.LockedError
	if _, err := mine.Lock(t.Context(), statebackend.NewLockInfo("OperationTypePlan", "1")); !errors.As(err, &locked) || locked.Info.ID != id || locked.Info.Path == "" {
		t.Errorf("%v; want the holder", err)
	}
	if _, err := mine.Put(t.Context(), []byte(state1), ""); !errors.As(err, &locked) {
		t.Errorf("a write under somebody else's lock: %v", err)
	}
	var mismatch *statebackend.LockMismatchError
	if err := mine.Unlock(t.Context(), "another"); !errors.As(err, &mismatch) || mismatch.Held[0].Info.ID != id {
		t.Errorf("%v; want a mismatch", err)
	}
	if err := mine.Unlock(t.Context(), id); err != nil {
		t.Errorf("force-unlock: %v", err)
	}
	var lost *statebackend.LockLostError
	if _, err := theirs.Put(t.Context(), []byte(state1), ""); !errors.As(err, &lost) || lost.ID != id {
		t.Errorf("%v; want a lost lock", err)
	}
	if h.State() != "" {
		t.Error("it was written all the same")
	}
}

// Answers get lost after the deed, and before it.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{true, false} {
		h := new(statebackendtest.HTTP).Start(t)
		w := open(t, h)
		faulty := ""
		h.Answer = func(method string) (int, bool) {
			if method == faulty {
				faulty = ""
				return nethttp.StatusBadGateway, after
			}
			return 0, false
		}
		faulty = "POST"
		v, err := w.Put(t.Context(), []byte(state1), "")
		if (err == nil) != after || after && string(v) == "" {
			t.Errorf("put, done %v: %v", after, err)
		}
		put(t, w, state1, "")
		faulty = "UNLOCK"
		id := lock(t, w)
		if err := w.Unlock(t.Context(), id); err == nil {
			t.Errorf("unlock, done %v: no error", after)
		}
		if err := w.Unlock(t.Context(), id); err != nil && !errors.Is(err, statebackend.ErrNotLocked) {
			t.Errorf("unlock again, done %v: %v", after, err)
		}
	}
}

// A lock whose answer was lost is found by its ID in the next attempt.
func TestEchoOfALock(t *testing.T) {
	t.Parallel()
	h := new(statebackendtest.HTTP).Start(t)
	first := true
	h.Answer = func(method string) (int, bool) {
		if method == "LOCK" && first {
			first = false
			return nethttp.StatusServiceUnavailable, true
		}
		return 0, false
	}
	w := open(t, h, "retry_max", 1, "retry_wait_min", 0, "retry_wait_max", 0)
	id := lock(t, w)
	if err := w.Unlock(t.Context(), id); err != nil {
		t.Error(err)
	}
}

// Wrong credentials and broken servers are told as such, and no password with them.
func TestRefusals(t *testing.T) {
	t.Parallel()
	h := (&statebackendtest.HTTP{Username: "alice", Password: "s3cr3t!"}).Start(t)
	if _, err := open(t, h, "username", "alice", "password", "s3cr3t!").Get(t.Context()); err != nil {
		t.Error(err)
	}
	wrong := open(t, h, "address", strings.Replace(h.URL, "http://", "http://bob:hidden-in-it@", 1), "username", "alice", "password", "wr0ng")
	_, err := wrong.Get(t.Context())
	if !errors.Is(err, statebackend.ErrDenied) || strings.Contains(err.Error(), "wr0ng") || strings.Contains(err.Error(), "hidden-in-it") {
		t.Errorf("%v", err)
	}
	if strings.Contains(wrong.Place(), "hidden-in-it") {
		t.Errorf("the place is %s", wrong.Place())
	}
	for status, want := range map[int]string{403: "the right to do this", 500: "internal error", 418: "unexpected HTTP status 418"} {
		h := (&statebackendtest.HTTP{Answer: func(string) (int, bool) { return status, false }}).Start(t)
		if _, err := open(t, h).Get(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v", status, err)
		}
	}
}

// A state and its credentials do not go to another host.
func TestRedirect(t *testing.T) {
	t.Parallel()
	thief := new(statebackendtest.HTTP).Start(t)
	s := httptest.NewServer(nethttp.RedirectHandler(thief.URL, nethttp.StatusTemporaryRedirect))
	defer s.Close()
	h := &statebackendtest.HTTP{URL: s.URL}
	if _, err := open(t, h).Get(t.Context()); err == nil || !strings.Contains(err.Error(), "another address than the block's") {
		t.Error(err)
	}
	if log := thief.Log(); len(log) > 0 {
		t.Errorf("the other host was asked: %q", log)
	}
}

// TestRedirectOfTLS holds that a redirection to the same host is followed with TLS, and to the same port
// without TLS it is not: the password would be readable.
func TestRedirectOfTLS(t *testing.T) {
	t.Parallel()
	var to string
	s := httptest.NewTLSServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.URL.Path == "/moved" {
			w.Write([]byte(state1))
			return
		}
		nethttp.Redirect(w, r, to, nethttp.StatusTemporaryRedirect)
	}))
	defer s.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	w := open(t, &statebackendtest.HTTP{URL: s.URL}, "client_ca_certificate_pem", string(ca))
	to = s.URL + "/moved"
	if st, err := w.Get(t.Context()); err != nil || string(st.Bytes) != state1 {
		t.Errorf("%v", err)
	}
	to = strings.Replace(s.URL, "https://", "http://", 1) + "/moved"
	if _, err := w.Get(t.Context()); err == nil || !strings.Contains(err.Error(), "another address than the block's") {
		t.Errorf("%v", err)
	}
	to = s.URL + "/again"
	if _, err := w.Get(t.Context()); err == nil || !strings.Contains(err.Error(), "it redirects 10 times") {
		t.Errorf("%v", err)
	}
}

// A state that was damaged on the way is no state.
func TestDamagedState(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.Header().Set("Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA==")
		w.Write([]byte(state1))
	}))
	defer s.Close()
	if _, err := open(t, &statebackendtest.HTTP{URL: s.URL}).Get(t.Context()); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Error(err)
	}
}

func TestWorkspaces(t *testing.T) {
	t.Parallel()
	b, err := http.Open(map[string]any{"address": "http://127.0.0.1:1/"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Open("staging"); !errors.Is(err, http.ErrNoWorkspaces) {
		t.Error(err)
	}
	if _, err := b.Workspaces(t.Context()); !errors.Is(err, http.ErrNoWorkspaces) {
		t.Error(err)
	}
	if err := b.DeleteWorkspace(t.Context(), "staging", ""); !errors.Is(err, http.ErrNoWorkspaces) {
		t.Error(err)
	}
}

func TestAttributes(t *testing.T) {
	t.Setenv("TF_HTTP_ADDRESS", "https://example.com/of-the-environment")
	t.Setenv("TF_HTTP_RETRY_MAX", "three")
	for _, test := range []struct {
		config map[string]any
		want   string
	}{
		{map[string]any{"retry_max": 1}, ""},
		{nil, "retry_max: the environment variable TF_HTTP_RETRY_MAX must be a whole number"},
		{map[string]any{"retry_max": -1}, "retry_max: a number that is not negative"},
		{map[string]any{"retry_max": 1, "address": "ftp://example.com"}, "address: an address that begins with http:// or https:// is required"},
		{map[string]any{"retry_max": 1, "lock_address": "here"}, "lock_address: an address"},
		{map[string]any{"retry_max": 1, "client_certificate_pem": "x"}, "client_private_key_pem: the certificate needs its private key"},
		{map[string]any{"retry_max": 1, "client_private_key_pem": "x"}, "client_certificate_pem: the private key needs its certificate"},
		{map[string]any{"retry_max": 1, "client_certificate_pem": "x", "client_private_key_pem": "y"}, "are not a pair in PEM format"},
		{map[string]any{"retry_max": 1, "client_ca_certificate_pem": "x"}, "client_ca_certificate_pem: it has no certificate in PEM format"},
		{map[string]any{"path": "x"}, "path: there is no such attribute"},
		{map[string]any{"retry_max": 1 << 20}, ""},
		{map[string]any{"retry_max": 1<<20 + 1}, "retry_max: a number that is not negative, and at most 1048576"},
		{map[string]any{"retry_max": 0, "retry_wait_min": -1}, "retry_wait_min: a number"},
		{map[string]any{"retry_max": 0, "retry_wait_max": -1}, "retry_wait_max: a number"},
	} {
		_, err := http.Open(test.config)
		if got := message(err); (test.want == "") != (err == nil) || !strings.Contains(got, test.want) {
			t.Errorf("%v: %s", test.config, got)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestAttributeNames holds that the names are those of Terraform's documentation.
//
// Source: https://developer.hashicorp.com/terraform/language/backend/http
func TestAttributeNames(t *testing.T) {
	var names []string
	for _, a := range http.Attributes {
		name := a.Name
		if a.Secret {
			name += " (secret)"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	want := []string{
		"address", "client_ca_certificate_pem", "client_certificate_pem", "client_private_key_pem (secret)", "lock_address", "lock_method",
		"password (secret)", "retry_max", "retry_wait_max", "retry_wait_min", "skip_cert_verification", "unlock_address", "unlock_method",
		"update_method", "username",
	}
	if !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
}

// TestUseFromSeveralGoroutines holds that no method keeps the others from going on.
func TestUseFromSeveralGoroutines(t *testing.T) {
	t.Parallel()
	w := open(t, new(statebackendtest.HTTP).Start(t))
	for range 2 {
		if _, err := w.Locks(t.Context()); err != nil {
			t.Fatal(err)
		}
		id := lock(t, w)
		put(t, w, state1, "")
		if err := w.Unlock(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLockWithoutAServer holds that a lock which nobody answered for is not taken, and that
// there is nothing to give back.
func TestLockWithoutAServer(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(nethttp.NotFoundHandler())
	s.Close()
	w := open(t, &statebackendtest.HTTP{URL: s.URL})
	id, err := w.Lock(t.Context(), statebackend.NewLockInfo("x", "1"))
	if err == nil || id != "" || !statebackend.Unreachable(err) || strings.Contains(err.Error(), "may have been taken") {
		t.Errorf("Lock: %q, %v", id, err)
	}
	if held, err := w.Locks(t.Context()); len(held) != 0 || err != nil {
		t.Errorf("Locks: %v, %v", held, err)
	}
}

// TestOwnCertificate holds that a server with a certificate of its own is believed only as the
// block has it.
func TestOwnCertificate(t *testing.T) {
	t.Parallel()
	h := new(statebackendtest.HTTP).Start(t)
	s := httptest.NewTLSServer(h)
	defer s.Close()
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure := &statebackendtest.HTTP{URL: s.URL}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if _, err := open(t, secure).Get(t.Context()); err == nil {
		t.Error("a certificate of nobody was believed")
	}
	for _, attribute := range [][]any{{"client_ca_certificate_pem", string(ca)}, {"skip_cert_verification", true}} {
		if _, err := open(t, secure, attribute...).Get(t.Context()); err != nil {
			t.Errorf("%v: %v", attribute[0], err)
		}
	}
}

// TestOnlyOKIsALock holds that no other status is a lock: a store of files answers every PUT with 201, also the
// second one. Nothing is given back then, since it may be the lock of somebody else.
func TestOnlyOKIsALock(t *testing.T) {
	t.Parallel()
	for status, says := range map[int]string{
		201: "unexpected HTTP status 201: only 200 is a lock", 202: "only 200", 204: "only 200", 206: "only 200",
		400: "unexpected HTTP status 400", 404: "unexpected HTTP status 404", 500: "internal error", 401: "credentials",
	} {
		for _, method := range []string{"LOCK", "PUT"} {
			var others atomic.Int64
			server := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
				if r.Method != method {
					others.Add(1)
				}
				w.WriteHeader(status)
			}))
			w := open(t, &statebackendtest.HTTP{URL: server.URL}, "lock_method", method, "unlock_method", "DELETE")
			_, err := w.Lock(t.Context(), statebackend.NewLockInfo("OperationTypeApply", "1"))
			if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), method+" "+server.URL) {
				t.Errorf("%s answered %d: %v; want %q", method, status, err, says)
			}
			if n := others.Load(); n != 0 {
				t.Errorf("%s answered %d: %d other requests", method, status, n)
			}
			server.Close()
		}
	}
}
