package awsstore

import (
	"bytes"
	"encoding/base64"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/provider/install/ranged"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// A watcher keeps the headers of the last upload.
type watcher struct{ header http.Header }

// RoundTrip implements http.RoundTripper.
func (w *watcher) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPut {
		w.header = r.Header
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestPackages keeps a package, and reads it in ranges by its address, with no credentials.
func TestPackages(t *testing.T) {
	t.Parallel()
	url := statebackendtest.StartVersitygw(t)
	w := &watcher{}
	a := openArtifacts(t, url, w)
	p := Packages(a)
	const key = "registry.terraform.io/acme/x/terraform-provider-x_1.0.0_linux_amd64.zip"
	address, err := p.Address(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ranged.Open(t.Context(), http.DefaultClient, address); err == nil || !strings.Contains(err.Error(), "no such object") {
		t.Errorf("before it is there: %v", err)
	}
	content := bytes.Repeat([]byte("a package of some megabytes\n"), 400_000)
	path := filepath.Join(t.TempDir(), "package.zip")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 2 { // another one takes its place
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if err := p.Keep(t.Context(), key, f); err != nil {
			t.Fatal(err)
		}
	}
	r, err := ranged.Open(t.Context(), http.DefaultClient, address)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(io.NewSectionReader(r, 0, r.Size())); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes of %d, %v", len(got), len(content), err)
	}
	context, _ := base64.StdEncoding.DecodeString(w.header.Get("X-Amz-Server-Side-Encryption-Context"))
	if want := `{"package":"terraform-provider-x_1.0.0_linux_amd64.zip","repository":""}`; string(context) != want ||
		w.header.Get("X-Amz-Server-Side-Encryption") != "aws:kms" || w.header.Get("X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id") != p.KeyID {
		t.Errorf("encrypted with %v", w.header)
	}
	if other, err := p.Address(t.Context(), "plans/x"); err != nil || !strings.Contains(other, "/providers/plans/x?") {
		t.Errorf("an address outside of the folder: %s, %v", other, err)
	}
}
