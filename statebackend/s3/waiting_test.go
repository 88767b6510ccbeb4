package s3

import (
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/retry"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/dynamodb"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// TestWaitingIsNoted holds that a request which is repeated is noted once, with the cause and
// without the SDK's account of its attempts.
func TestWaitingIsNoted(t *testing.T) {
	t.Parallel()
	var notes []string
	r := patiently(retry.NewStandard(), "S3", func(s string) { notes = append(notes, s) })
	long := errors.Join(errors.New("operation error S3"), &net.OpError{Op: "dial", Err: errors.New("refused")})
	for attempt := 1; attempt <= 4; attempt++ {
		if _, err := r.RetryDelay(attempt, long); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"S3 does not answer as it should, and is asked again: dial: refused"}; !slices.Equal(notes, want) {
		t.Errorf("%q, want %q", notes, want)
	}
	if _, err := patiently(retry.NewStandard(), "S3", nil).RetryDelay(noteworthy, long); err != nil {
		t.Errorf("without somebody to tell: %v", err)
	}
}

// TestListOfNoBucket holds that workspaces which cannot be listed are an error, unless it is for
// a missing permission.
func TestListOfNoBucket(t *testing.T) {
	t.Parallel()
	p := newPlace(t, new(statebackendtest.S3), new(statebackendtest.DynamoDB), map[string]any{"bucket": "missing"})
	if names, err := p.backend.Workspaces(t.Context()); !errors.Is(err, ErrNoBucket) {
		t.Errorf("Workspaces: %q, %v", names, err)
	}
	if err := p.backend.List(t.Context()); !errors.Is(err, ErrNoBucket) || !strings.Contains(err.Error(), `"missing"`) {
		t.Errorf("List: %v", err)
	}
}

// TestCertificateErrorsAreFinal holds that a certificate which is not trusted is reported at once, and with
// the settings that help.
func TestCertificateErrorsAreFinal(t *testing.T) {
	t.Parallel()
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connections.Add(1)
		}
	}
	server.StartTLS()
	defer server.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	for name, url := range map[string]string{"authority": server.URL, "host": strings.Replace(server.URL, "127.0.0.1", "localhost", 1)} {
		connections.Store(0)
		b := open(t, servers{url, url}.attributes(map[string]any{"dynamodb_table": "locks"}), Options{})
		_, err := b.Workspaces(t.Context())
		if err == nil || !strings.Contains(err.Error(), "custom_ca_bundle") || !strings.Contains(err.Error(), "AWS_CA_BUNDLE") {
			t.Errorf("%s: %v", name, err)
		}
		if n := connections.Load(); n != 1 {
			t.Errorf("%s: %d connections, want 1", name, n)
		}
	}
	b := open(t, servers{server.URL, server.URL}.attributes(map[string]any{"dynamodb_table": "locks"}), Options{})
	connections.Store(0)
	if _, err := (&dynamodb.Items{Client: b.items.Client, Table: "locks", Path: "x"}).Holder(t.Context()); !statebackend.Untrusted(err) || connections.Load() != 1 {
		t.Errorf("DynamoDB: %v after %d connections", err, connections.Load())
	}
	attributes := servers{plain.URL, plain.URL}.attributes(map[string]any{
		"skip_credentials_validation": false,
		"endpoints":                   map[string]any{"s3": plain.URL, "sts": server.URL},
	})
	connections.Store(0)
	if _, err := Open(t.Context(), attributes, Options{}); err == nil || !strings.Contains(err.Error(), "custom_ca_bundle") || connections.Load() != 1 {
		t.Errorf("STS: %v after %d connections", err, connections.Load())
	}
}

// TestOtherConflicts holds that a 409 for another reason than a write in the same moment is final: servers
// that keep objects in files answer it for the key "net/sub" beside "net".
func TestOtherConflicts(t *testing.T) {
	t.Parallel()
	var writes atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			writes.Add(1)
			w.WriteHeader(http.StatusConflict)
			w.Write([]byte("<Error><Code>ObjectParentIsFile</Code></Error>"))
			return
		}
		w.WriteHeader(http.StatusNotFound)
		w.Write([]byte("<Error><Code>NoSuchKey</Code></Error>"))
	}))
	defer server.Close()
	w, err := open(t, servers{server.URL, server.URL}.attributes(), Options{}).Open("default")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Put(t.Context(), []byte(state1), ""); err == nil || !strings.Contains(err.Error(), "ObjectParentIsFile") || writes.Load() != 1 {
		t.Errorf("%v after %d writes", err, writes.Load())
	}
}
