package gcs

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/lockfile"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

var prefixes atomic.Int64

// empty opens a backend with a prefix of its own on a server.
func empty(t *testing.T, url string) *Backend {
	t.Helper()
	return opened(t, map[string]any{"bucket": "states", "access_token": "t0ken", "storage_custom_endpoint": url + "/storage/v1/", "prefix": fmt.Sprintf("/a b/%d", prefixes.Add(1))})
}

func opened(t *testing.T, config map[string]any) *Backend {
	t.Helper()
	b, err := Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestConformance(t *testing.T) {
	t.Parallel()
	url := statebackendtest.StartFakeGCS(t)
	statebackendtest.Run(t, statebackendtest.Suite{
		Open:   func(t *testing.T) statebackend.Backend { return empty(t, url) },
		Kinds:  []statebackend.LockKind{statebackend.ObjectLock},
		Leases: true,
	})
}

// faulty answers writes with injected faults.
type faulty struct {
	http.RoundTripper
	faults *statebackendtest.Faults
}

func (f faulty) RoundTrip(r *http.Request) (*http.Response, error) {
	fault := statebackendtest.None
	if r.Method != http.MethodGet {
		fault = f.faults.Next(r.Method)
	}
	if fault == statebackendtest.None {
		return f.RoundTripper.RoundTrip(r)
	}
	if fault == statebackendtest.Persisted {
		a, err := f.RoundTripper.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		a.Body.Close()
	}
	return &http.Response{StatusCode: http.StatusServiceUnavailable, Body: io.NopCloser(strings.NewReader("")), Request: r}, nil
}

// withFaults returns a function that opens a backend on the server of url, which makes each request so many times.
func withFaults(url string, attempts int) func(t *testing.T, faults *statebackendtest.Faults) statebackend.Backend {
	return func(t *testing.T, faults *statebackendtest.Faults) statebackend.Backend {
		b := empty(t, url)
		b.objects.attempts = attempts
		b.objects.client.Transport = faulty{b.objects.client.Transport, faults}
		return b
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	statebackendtest.RunFaults(t, withFaults(statebackendtest.StartFakeGCS(t), 1))
}

func TestEchoes(t *testing.T) {
	t.Parallel()
	statebackendtest.RunEchoes(t, withFaults(statebackendtest.StartFakeGCS(t), 2))
}

func TestLeaseFaults(t *testing.T) {
	t.Parallel()
	statebackendtest.RunLeaseFaults(t, withFaults(statebackendtest.StartFakeGCS(t), 1))
}

// The requests have the customer's key for states, the KMS key for writes of states, and neither for locks.
func TestKeys(t *testing.T) {
	t.Parallel()
	key := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("k"), 32))
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, fmt.Sprintf("%s key=%t kms=%s token=%s", r.Method, r.Header.Get("X-Goog-Encryption-Key") == key && r.Header.Get("X-Goog-Encryption-Algorithm") == "AES256" && r.Header.Get("X-Goog-Encryption-Key-Sha256") != "", r.URL.Query().Get("kmsKeyName"), r.Header.Get("Authorization")))
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		io.WriteString(w, `{"generation":"7"}`)
	}))
	defer server.Close()
	run := func(more string, value any) string {
		seen = nil
		w, err := opened(t, map[string]any{"bucket": "states", "access_token": "t0ken", "storage_custom_endpoint": server.URL, more: value}).open("default")
		if err != nil {
			t.Fatal(err)
		}
		w.Get(t.Context())
		w.Put(t.Context(), []byte(`{}`), "")
		w.Lock(t.Context(), statebackend.NewLockInfo("x", "1"))
		return strings.Join(seen, "\n")
	}
	const token = " token=Bearer t0ken"
	if got, want := run("encryption_key", key), "GET key=true kms="+token+"\nPOST key=true kms="+token+"\nPOST key=false kms="+token; got != want {
		t.Errorf("encryption_key:\n%s\nwant\n%s", got, want)
	}
	if got, want := run("kms_encryption_key", "projects/p/k"), "GET key=false kms="+token+"\nPOST key=false kms=projects/p/k"+token+"\nPOST key=false kms="+token; got != want {
		t.Errorf("kms_encryption_key:\n%s\nwant\n%s", got, want)
	}
}

// A server that redirects does not get the token, nor has it sent to another.
func TestRedirects(t *testing.T) {
	t.Parallel()
	asked := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	w, err := empty(t, server.URL).open("default")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Get(t.Context()); err == nil || asked {
		t.Errorf("Get = %v; the other server was asked: %t", err, asked)
	}
}

// What a server answers decides what a person is told.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		is     error
		says   string
	}{
		{http.StatusForbidden, statebackend.ErrDenied, "no rights. Give the account the role Storage Object User"},
		{http.StatusUnauthorized, statebackend.ErrDenied, "access denied"},
		{http.StatusNotFound, nil, "the bucket does not exist"},
		{http.StatusBadRequest, nil, "unexpected HTTP status 400: no rights"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(c.status)
			io.WriteString(w, `{"error":{"message":"no rights"}}`)
		}))
		_, err := empty(t, server.URL).Workspaces(t.Context())
		if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%d: %v", c.status, err)
		}
		server.Close()
	}
	// A proxy that removes the generation leaves nothing to compare.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"serial":1}`) }))
	defer server.Close()
	w, err := empty(t, server.URL).open("default")
	if err != nil {
		t.Fatal(err)
	}
	var unfit *statebackend.UnfitError
	if _, err := w.Get(t.Context()); !errors.As(err, &unfit) {
		t.Errorf("without a generation: %v", err)
	}
}

// No error about an attribute shows its value.
func TestAttributes(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t"
	for attribute, value := range map[string]string{
		"credentials":                 `{"type":"service_account","private_key":"` + secret + `"`,
		"encryption_key":              secret,
		"bucket":                      "gs://states/x",
		"storage_custom_endpoint":     "storage.example",
		"impersonate_service_account": "someone@example",
	} {
		config := map[string]any{"bucket": "states", "access_token": "t"}
		config[attribute] = value
		if attribute == "credentials" {
			delete(config, "access_token")
		}
		_, err := Open(t.Context(), config)
		var wrong *statebackend.AttributeError
		if !errors.As(err, &wrong) || wrong.Attribute != attribute || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", attribute, err)
		}
	}
	for _, credentials := range []string{`{"type":"service_account","private_key":"` + secret + `"}`, `{"type":"` + secret + `"}`, "/nowhere/" + secret} {
		if _, err := Open(t.Context(), map[string]any{"bucket": "states", "credentials": credentials}); err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", credentials, err)
		}
	}
}

// Stock tools name a lock by its generation.
func TestUnlockByGeneration(t *testing.T) {
	t.Parallel()
	b := empty(t, statebackendtest.StartFakeGCS(t))
	w, err := b.open("default")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Lock(t.Context(), statebackend.NewLockInfo("x", "1")); err != nil {
		t.Fatal(err)
	}
	_, generation, err := b.objects.Get(t.Context(), b.prefix+"default"+lockfile.Suffix)
	if err != nil {
		t.Fatal(err)
	}
	var mismatch *statebackend.LockMismatchError
	if err := w.Unlock(t.Context(), generation+"0"); !errors.As(err, &mismatch) {
		t.Errorf("another generation: %v", err)
	}
	if err := w.Unlock(t.Context(), generation); err != nil {
		t.Error(err)
	}
	if held, err := w.Locks(t.Context()); err != nil || len(held) > 0 {
		t.Errorf("left: %v, %v", held, err)
	}
}
