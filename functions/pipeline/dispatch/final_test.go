package dispatch_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// longName is a name that git takes, and no file system.
var longName = strings.Repeat("long", 64)

// TestFinal is a table of errors that no retry mends: what people read of each, where
// they look, after the first try.
func TestFinal(t *testing.T) {
	t.Parallel()
	const readContents = "/repos/acme/infra/contents/"
	for name, test := range map[string]struct {
		base, head githubtest.Files
		fault      func(w http.ResponseWriter, r *http.Request) bool
	}{
		"archive":       {nil, githubtest.Files{longName: "x\n"}, nil},
		"settings-dir":  {githubtest.Files{"lockstep.hcl/readme.md": "x\n"}, nil, nil},
		"settings-long": {githubtest.Files{"lockstep.hcl": strings.Repeat("# a long file\n", 80_000)}, nil, nil},
		"lock-file":     {githubtest.Files{".terraform.lock.hcl": strings.Repeat("# a long file\n", 80_000)}, nil, nil},
		"forbidden": {nil, nil, func(w http.ResponseWriter, r *http.Request) bool {
			return refuse(w, r, readContents, http.StatusForbidden, "Resource not accessible by integration")
		}},
		// The list of changed files is not needed: commits are compared.
		"gone": {nil, nil, func(w http.ResponseWriter, r *http.Request) bool {
			return refuse(w, r, "/repos/acme/infra/pulls/1/files", http.StatusUnprocessableEntity, "Sorry, this diff is taking too long to generate.")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, both(githubtest.Files{"main.tf": resource("a", "1")}, test.base))
			s.strict, s.fault = true, test.fault
			n := s.pull("alice", "b", both(githubtest.Files{"b.tf": resource("b", "1")}, test.head))
			answer := s.say("alice", n, "lockstep plan")
			s.golden("final-"+name, s.status(n), s.pages("b"), answer)
		})
	}
}

func both(files, more githubtest.Files) githubtest.Files {
	maps.Copy(files, more)
	return files
}

// refuse answers what is asked for below a path.
func refuse(w http.ResponseWriter, r *http.Request, below string, status int, message string) bool {
	if !strings.HasPrefix(r.URL.Path, below) {
		return false
	}
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"message":%q,"documentation_url":"https://docs.github.example"}`, message)
	return true
}

// TestFinalSolved holds that a check run which spoke of a problem says so when it is
// solved: a push is a new commit, but what is mended on the base branch is not.
func TestFinalSolved(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1"), "lockstep.hcl/readme.md": "x\n"})
	s.strict = true
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.expect("the check", s.check("b"), "head lockstep: failure Failed: the projects could not be determined")
	s.repo.Push("bob", "main", "No settings", githubtest.Files{"lockstep.hcl/readme.md": githubtest.Deleted})
	s.expect("the plan", s.say("alice", n, "lockstep plan"), "**Planned** `.`: 2 to add")
	s.expect("the checks", s.check("b"), "head lockstep: neutral 1 project ready to apply – 2 to add", "lockstep/.: success Ready to apply – 2 to add")
}

// TestFinalApply holds that an apply which cannot be made is refused with the reason, at
// once, and that the plan stays as it is.
func TestFinalApply(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.strict = true
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.repo.Push("bob", "main", "A long name", githubtest.Files{longName: "x\n"})
	s.golden("final-apply", s.status(n), s.pages("b"), s.say("alice", n, "lockstep apply"))
	s.repo.Push("bob", "main", "No long name", githubtest.Files{longName: githubtest.Deleted})
	s.expect("after that", s.say("alice", n, "lockstep apply"), "**Applied** `.`: 2 added")
}

// TestFinalMerge holds the same of an apply that a merge asks for, which is not made.
func TestFinalMerge(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMerge())
	s.strict = true
	n := s.pull("alice", "subnet", githubtest.Files{"net/subnet.tf": resource("subnet", "v1")})
	s.repo.Push("bob", "main", "A long name", githubtest.Files{longName: "x\n"})
	s.repo.Merge("alice", n)
	s.settle()
	s.golden("final-merge", s.status(n), s.pages("subnet"), s.answer(n, "merge"))
}

// TestFinalUnlock holds the same of a lock that cannot be looked for, and of an apply
// that is not even queued.
func TestFinalUnlock(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.strict = true
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		return refuse(w, r, "/repos/acme/infra/contents/", http.StatusForbidden, "Resource not accessible by integration")
	}
	s.expect("the unlock", s.say("alice", n, "lockstep unlock"), "**Not unlocked** `.`", "Resource not accessible by integration", "the installation of the GitHub App has accepted its permissions")
	s.repo.Push("bob", "release", "Release", nil)
	s.repo.Retarget("alice", n, "release")
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Not applied** `.`", "Resource not accessible by integration")
}

// TestCheckOfNoCommit holds that checks of a commit which is gone are in nobody's way.
func TestCheckOfNoCommit(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.strict = true
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/check-runs") {
			return false
		}
		return refuse(w, r, "/", http.StatusUnprocessableEntity, "No commit found for SHA: 0000000")
	}
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.expect("the status", s.status(n), "2 to add")
}
