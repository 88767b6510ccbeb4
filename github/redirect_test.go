package github_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// TestRedirects holds that a call follows the API to another of its addresses, as for a
// repository with another name, and sends nothing, and no token, anywhere else.
func TestRedirects(t *testing.T) {
	const within = hubURL + "/repos/acme/infra/pulls/1?again=1"
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		for _, location := range []string{
			within, "/repos/acme/infra/pulls/1?again=1",
			"https://elsewhere.example/astray?key=t0ken", "https://127.0.0.1/astray?key=t0ken", "http://127.0.0.1:8080/astray?key=t0ken",
			"http://sub.127.0.0.1/astray?key=t0ken", "http://127.0.0.1@elsewhere.example/astray?key=t0ken",
		} {
			synctest.Test(t, func(t *testing.T) {
				s := newSetting(t)
				s.fault = func(w http.ResponseWriter, r *http.Request) bool {
					if !strings.HasSuffix(r.URL.Path, "/pulls/1") || r.URL.RawQuery != "" {
						return false
					}
					w.Header().Set("Location", location)
					w.WriteHeader(status)
					return true
				}
				_, err := s.client.PullRequest(t.Context(), 1)
				if !strings.Contains(location, "astray") {
					if err != nil {
						t.Errorf("%d to %s: %v", status, location, err)
					}
					return
				}
				if err == nil || !strings.Contains(err.Error(), "to which we send nothing") || strings.Contains(err.Error(), "t0ken") {
					t.Errorf("%d to %s: %v", status, location, err)
				}
				if n := s.count("astray"); n != 0 {
					t.Errorf("%d to %s: %d requests", status, location, n)
				}
			})
		}
	}
}
