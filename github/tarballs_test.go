package github_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github"
)

// shelf is Tarballs in memory, common to several processes.
type shelf map[string][]byte

func (s shelf) Get(_ context.Context, r github.Repo, sha string) []byte { return s[r.String()+sha] }

func (s shelf) Put(_ context.Context, r github.Repo, sha string, data []byte) {
	s[r.String()+sha] = data
}

// TestTarballs holds that of several processes one asks GitHub for a commit, and that each has the files of it, whatever
// lies where the archives are kept.
func TestTarballs(t *testing.T) {
	s, kept := newSetting(t), shelf{}
	checkout := func(what string, fetched int) {
		t.Helper()
		s.connect(t, func(c *github.AppConfig) { c.Tarballs = kept }) // another process
		before, dir := s.count("GET /archive/"), t.TempDir()
		if _, err := s.client.Checkout(t.Context(), s.repo.Head("topic"), dir); err != nil {
			t.Errorf("%s: %v", what, err)
		} else if data, err := os.ReadFile(filepath.Join(dir, "main.tf")); string(data) != "one\ntwo\n" {
			t.Errorf("%s: %q, %v", what, data, err)
		}
		if got := s.count("GET /archive/") - before; got != fetched {
			t.Errorf("%s: %d archives were fetched", what, got)
		}
	}
	checkout("the first process", 1)
	checkout("the second process", 0)
	name := s.repo.Repo().String() + s.repo.Head("topic")
	whole := kept[name]
	kept[name] = whole[:len(whole)/2]
	checkout("an archive that was cut", 1)
	checkout("the one in its place", 0)
	if _, err := s.client.Checkout(t.Context(), s.repo.Head("main"), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	kept[name] = kept[s.repo.Repo().String()+s.repo.Head("main")]
	checkout("the archive of another commit", 1)
	kept[name] = []byte("no archive")
	checkout("no archive", 1)
	// A final defect is the archive's, too, and GitHub's own decides.
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/tarball/") {
			t.Error("GitHub is asked for an archive that is there")
		}
		return false
	}
	checkout("the one in its place", 0)
}
