package github_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lockstep-iac/lockstep/github"
)

func TestCheckout(t *testing.T) {
	s := newSetting(t)
	dir := t.TempDir()
	u, err := s.client.Checkout(t.Context(), s.repo.Head("topic"), dir)
	if err != nil {
		t.Fatal(err)
	}
	if u.Files != 2 {
		t.Errorf("%+v", u)
	}
	for name, want := range map[string]string{"main.tf": "one\ntwo\n", "net/net.tf": "net\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if s.count("GET /archive/") != 1 || s.count("GET /archive/") == s.count("GET /archive/ token") {
		t.Errorf("the archive's address got our token: %q", s.requests)
	}
	if _, err := s.client.Checkout(t.Context(), strings.Repeat("0", 40), t.TempDir()); !errors.Is(err, github.ErrNotFound) {
		t.Errorf("no such commit: %v", err)
	}
	if _, err := s.client.Checkout(t.Context(), "main", t.TempDir()); err == nil {
		t.Error("a branch was taken for a commit")
	}
}

// TestArchiveAddress holds that an archive is fetched from where it may be only, and
// that the address, which has a token in it, is not in the error.
func TestArchiveAddress(t *testing.T) {
	for location, want := range map[string]string{
		"http://169.254.169.254/latest?token=t0ken": "is not followed",
		"file:///etc/passwd?token=t0ken":            "is not followed",
		"https://127.0.0.1:1/x?token=t0ken":         "refused",
		"/hop?token=t0ken":                          "is not followed",
		"/gone?token=t0ken":                         "not found",
		"/broken?token=t0ken":                       "500 Internal Server Error",
		"https://%%%.example/x?token=t0ken":         "invalid",
	} {
		run := func(t *testing.T) {
			s := newSetting(t)
			s.fault = func(w http.ResponseWriter, r *http.Request) bool {
				switch {
				case strings.Contains(r.URL.Path, "/tarball/"):
					w.Header().Set("Location", location)
					w.WriteHeader(http.StatusFound)
				case r.URL.Path == "/hop":
					w.Header().Set("Location", "http://169.254.169.254/t0ken")
					w.WriteHeader(http.StatusFound)
				case r.URL.Path == "/broken":
					w.WriteHeader(http.StatusInternalServerError)
				case r.URL.Path == "/gone":
					w.WriteHeader(http.StatusNotFound)
				default:
					return false
				}
				return true
			}
			_, err := s.client.Checkout(t.Context(), s.repo.Head("main"), t.TempDir())
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "t0ken") {
				t.Errorf("error: %v", err)
			}
		}
		t.Run(location, func(t *testing.T) { synctest.Test(t, run) })
	}
}
