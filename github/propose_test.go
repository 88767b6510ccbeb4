package github_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

func imports(content string) github.Proposal {
	return github.Proposal{
		Base: "main", Branch: "lockstep/query-net-7", Group: "lockstep/query-net-", Files: []github.ProposedFile{{Path: "net/a b#?%41.tf", Content: []byte(content)}},
		Message: "Import 1 object", Title: "Import 1 object", Body: "One | two",
	}
}

// TestPropose follows a proposal that is repeated: it is one branch, one commit and one pull request, also after a person has closed
// the pull request.
func TestPropose(t *testing.T) {
	s := newSetting(t)
	s.hub.Accepts("contents", "write")
	first := 0
	for range 2 {
		n, own, err := s.client.Propose(t.Context(), imports("import {}\n"))
		if err != nil || !own || first != 0 && n != first {
			t.Fatalf("#%d, then #%d, %v", first, n, err)
		}
		first = n
	}
	p := s.repo.Pulls()[first-1]
	before, after := s.repo.Changes(first)
	if p.Author != "lockstep[bot]" || p.Into != "main" || p.Body != "One | two" || len(before) != 0 || len(after) != 1 || after["net/a b#?%41.tf"] != "import {}\n" {
		t.Errorf("%+v, %v, %v", p, before, after)
	}
	another := imports("more\n")
	another.Branch, another.Files[0].Path = "lockstep/query-net-8", "net/more.tf"
	if n, own, err := s.client.Propose(t.Context(), another); err != nil || own || n != first {
		t.Errorf("beside an open one: #%d, %v, %v", n, own, err)
	}
	s.repo.Close("alice", first)
	if n, own, err := s.client.Propose(t.Context(), imports("import {}\n")); err != nil || !own || n != first || len(s.repo.Pulls()) != 2 {
		t.Errorf("after the close: #%d, %v", n, err)
	}
	if n, own, err := s.client.Propose(t.Context(), another); err != nil || !own || n == first {
		t.Errorf("another after the close: #%d, %v, %v", n, own, err)
	}
}

// TestProposeAfterDeath holds that a proposal goes on after a death at each write, before or after GitHub carried it out, and that
// the last attempt's content is in the pull request unless that was open already.
func TestProposeAfterDeath(t *testing.T) {
	for nth := range 3 {
		for _, done := range []bool{false, true} {
			s := newSetting(t)
			s.hub.Accepts("contents", "write")
			writes := 0
			s.fault = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodGet && !strings.Contains(r.URL.Path, "access_tokens") {
					writes++
				}
				if writes <= nth || done && writes == nth+1 && r.Method != http.MethodGet {
					return false
				}
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, `{"message":"dead"}`)
				return true
			}
			_, _, err := s.client.Propose(t.Context(), imports("one\n"))
			if opened := nth == 2 && done; (err == nil) != opened {
				t.Fatalf("write %d (%v): %v", nth, done, err)
			}
			s.fault = nil
			n, own, err := s.client.Propose(t.Context(), imports("two\n"))
			want := map[bool]string{false: "two\n", true: "one\n"}[nth == 2 && done]
			if _, after := s.repo.Changes(n); err != nil || !own || after["net/a b#?%41.tf"] != want || len(s.repo.Pulls()) != 2 {
				t.Errorf("write %d (%v): %v, %v", nth, done, after, err)
			}
		}
	}
}

// TestProposeRefused is a table of proposals that GitHub refuses, each with the reason for people.
func TestProposeRefused(t *testing.T) {
	for name, test := range map[string]struct {
		before func(*setting, *github.Proposal)
		want   string
	}{
		"no permission":   {func(s *setting, _ *github.Proposal) { s.hub.Withdraw("contents"); s.hub.Accepts("contents", "read") }, "permission to write contents"},
		"the file exists": {func(_ *setting, p *github.Proposal) { p.Files[0].Path = "net/net.tf" }, "already has net/net.tf"},
		"below a file":    {func(_ *setting, p *github.Proposal) { p.Files[0].Path = "main.tf/x.tf" }, "malformed path"},
		"no base":         {func(s *setting, p *github.Proposal) { p.Base = "gone" }, "not found"},
		"outside":         {func(_ *setting, p *github.Proposal) { p.Files[0].Path = "../x.tf" }, "not the path of a file"},
	} {
		s := newSetting(t)
		s.hub.Accepts("contents", "write")
		p := imports("x\n")
		test.before(s, &p)
		_, _, err := s.client.Propose(t.Context(), p)
		var final *github.FinalError
		text := ""
		if err != nil {
			text = err.Error()
		}
		if errors.As(err, &final) {
			text += " " + final.Remedy
		}
		if !strings.Contains(text, test.want) {
			t.Errorf("%s: %v", name, text)
		}
		if len(s.repo.Pulls()) != 1 {
			t.Errorf("%s: there is a pull request", name)
		}
	}
}

// TestProposeChanges holds that a proposal replaces the contents of files as they were at its first commit, whatever the base branch has
// now. A proposal that is repeated has one commit for each file. A file that somebody else has changed on the branch stays.
func TestProposeChanges(t *testing.T) {
	s := newSetting(t)
	s.hub.Accepts("contents", "write")
	from := s.repo.Push("alice", "main", "Two files", githubtest.Files{"net/a.tf": "a = 1\n", "net/b.tf": "b = 1\n"})
	s.repo.Push("alice", "main", "Later", githubtest.Files{"net/c.tf": "c = 1\n"})
	p := github.Proposal{
		Base: "main", From: from, Branch: "lockstep/drift-net-7", Group: "lockstep/drift-net-", Message: "Keep", Title: "Keep",
		Files: []github.ProposedFile{{"net/a.tf", []byte("a = 2\n"), []byte("a = 1\n")}, {"net/b.tf", []byte("b = 2\n"), []byte("b = 1\n")}},
	}
	first := 0
	for range 2 {
		n, own, err := s.client.Propose(t.Context(), p)
		if err != nil || !own || first != 0 && n != first {
			t.Fatalf("#%d, then #%d, %v", first, n, err)
		}
		first = n
	}
	if _, after := s.repo.Changes(first); len(after) != 2 || after["net/a.tf"] != "a = 2\n" || after["net/b.tf"] != "b = 2\n" {
		t.Error(after)
	}
	s.repo.Close("alice", first)
	p.Branch = "lockstep/drift-net-8"
	s.repo.Push("mallory", p.Branch, "First", githubtest.Files{"net/a.tf": "a = 3\n"})
	_, _, err := s.client.Propose(t.Context(), p)
	var final *github.FinalError
	if !errors.As(err, &final) || !strings.Contains(err.Error(), "net/a.tf has another content") || len(s.repo.Pulls()) != first {
		t.Errorf("a branch of somebody else: %v", err)
	}
}

// TestProposeConflict holds that a file which another one writes at the same time is an error that may pass.
func TestProposeConflict(t *testing.T) {
	s := newSetting(t)
	s.hub.Accepts("contents", "write")
	p := imports("two\n")
	s.repo.Push("lockstep[bot]", p.Branch, "An earlier attempt", githubtest.Files{p.Files[0].Path: "one\n"})
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut {
			return false
		}
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		if !strings.Contains(string(body), `"sha"`) {
			return false
		}
		s.fault = nil
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, `{"message":"it does not match"}`)
		return true
	}
	_, _, err := s.client.Propose(t.Context(), p)
	if err == nil || errors.As(err, new(*github.FinalError)) || !strings.Contains(err.Error(), "does not match") {
		t.Errorf("a conflict: %v", err)
	}
	if _, _, err := s.client.Propose(t.Context(), p); err != nil {
		t.Error(err)
	}
}
