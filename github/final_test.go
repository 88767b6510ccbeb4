package github_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestFinalAnswers is a table of GitHub's refusals: which of them pass, which are said
// of something that is not there, and which stay until somebody mends something.
func TestFinalAnswers(t *testing.T) {
	for _, test := range []struct {
		status  int
		message string
		want    string
	}{
		{400, "Problems parsing JSON", "final"},
		{401, "Bad credentials", "passes"},
		{403, "Resource not accessible by integration", "final"},
		{403, "You have exceeded a secondary rate limit. Please wait.", "passes"},
		{404, "Not Found", "not there"},
		{406, "Sorry, the diff exceeded the maximum number of lines", "final"},
		{409, "Git Repository is empty.", "passes"},
		{410, "This was deleted", "final"},
		{422, "Sorry, this diff is taking too long to generate.", "final"},
		{422, "No commit found for SHA: 0", "not there"},
		{429, "Too many requests", "passes"},
		{451, "Repository access blocked", "final"},
		{500, "Server Error", "passes"},
		{502, "Bad Gateway", "passes"},
		{503, "Service Unavailable", "passes"},
		{504, "Gateway Timeout", "passes"},
	} {
		for _, below := range []string{"/repos/acme/infra/contents/", "/repos/acme/infra/pulls/1"} {
			run := func(t *testing.T) {
				s := newSetting(t)
				s.fault = func(w http.ResponseWriter, r *http.Request) bool {
					if !strings.HasPrefix(r.URL.Path, below) {
						return false
					}
					w.WriteHeader(test.status)
					fmt.Fprintf(w, `{"message":%q}`, test.message)
					return true
				}
				_, err := s.client.File(t.Context(), s.repo.Head("main"), "main.tf")
				if strings.Contains(below, "pulls") {
					_, err = s.client.PullRequest(t.Context(), 1)
				}
				var e *github.FinalError
				got := "passes"
				switch {
				case errors.As(err, &e):
					got = "final"
				case errors.Is(err, github.ErrNotFound):
					got = "not there"
				}
				if err == nil || got != test.want {
					t.Errorf("%s: %v, want %s", got, err, test.want)
				}
				if e != nil && (!strings.Contains(err.Error(), test.message) || (e.Remedy != "") != (test.status == 403)) {
					t.Errorf("it says %v; %s", err, e.Remedy)
				}
			}
			t.Run(fmt.Sprint(test.status, below), func(t *testing.T) { synctest.Test(t, run) })
		}
	}
}

// TestFinalContents holds what is said of files and archives that are not ones to use.
func TestFinalContents(t *testing.T) {
	s := newSetting(t)
	name := strings.Repeat("long", 64)
	s.repo.Push("alice", "odd", "Odd", githubtest.Files{name: "x\n", "large": strings.Repeat("x", github.MaxFile+1)})
	sha := s.repo.Head("odd")
	for want, do := range map[string]func() error{
		"read net of acme/infra at %.7s: it is a directory, and not a file": func() error {
			_, err := s.client.File(t.Context(), sha, "net")
			return err
		},
		"read large of acme/infra at %.7s: it is 1048577 bytes long, and 1048576 are allowed": func() error {
			_, err := s.client.File(t.Context(), sha, "large")
			return err
		},
		"check out acme/infra at %.7s: unpack: a file or directory of the commit has a name that is too long": func() error {
			_, err := s.client.Checkout(t.Context(), sha, t.TempDir())
			return err
		},
	} {
		want, err := fmt.Sprintf(want, sha), do()
		var e *github.FinalError
		if !errors.As(err, &e) || !strings.HasPrefix(e.Error(), want) || e.Remedy == "" {
			t.Errorf("%v (%+v), want %s", err, e, want)
		}
	}
}

// TestFinalArchive holds which refusals of an archive stay.
func TestFinalArchive(t *testing.T) {
	for status, stays := range map[int]bool{403: false, 410: true, 451: true, 500: false} {
		for _, where := range []string{"/tarball/", "/archive/"} {
			run := func(t *testing.T) {
				s := newSetting(t)
				s.fault = func(w http.ResponseWriter, r *http.Request) bool {
					if !strings.Contains(r.URL.Path, where) {
						return false
					}
					w.WriteHeader(status)
					return true
				}
				_, err := s.client.Checkout(t.Context(), s.repo.Head("main"), t.TempDir())
				if err == nil || errors.As(err, new(*github.FinalError)) != stays {
					t.Errorf("%v", err)
				}
			}
			t.Run(fmt.Sprint(status, where), func(t *testing.T) { synctest.Test(t, run) })
		}
	}
}
