package github_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github"
)

// TestLand merges the head that was applied, and nothing else.
func TestLand(t *testing.T) {
	s := newSetting(t)
	s.hub.Accepts("contents", "write")
	p, err := s.client.PullRequest(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.client.Land(t.Context(), 1, p.Base.SHA, "merge"); !errors.Is(err, github.ErrHeadMoved) {
		t.Errorf("another head: %v", err)
	}
	s.repo.RefuseMerges("At least 1 approving review is required")
	var final *github.FinalError
	if err := s.client.Land(t.Context(), 1, p.Head.SHA, "merge"); !errors.As(err, &final) || !strings.Contains(final.Why, "405 Method Not Allowed: At least 1 approving review is required") {
		t.Errorf("protected: %v", err)
	}
	s.repo.RefuseMerges("")
	busy := 2
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut || busy == 0 {
			return false
		}
		busy--
		w.WriteHeader(http.StatusMethodNotAllowed)
		_, _ = w.Write([]byte(`{"message":"Base branch was modified. Review and try the merge again.","documentation_url":"https://docs.github.com/rest"}`))
		return true
	}
	if err := s.client.Land(t.Context(), 1, p.Head.SHA, "squash"); err != nil || busy != 0 {
		t.Errorf("%v, after %d attempts of 2", err, 2-busy)
	}
	s.fault = nil
	if p, err = s.client.PullRequest(t.Context(), 1); err != nil || !p.Merged || p.MergedBy != "lockstep[bot]" {
		t.Errorf("%+v, %v", p, err)
	}
	if err := s.client.Land(t.Context(), 1, p.Head.SHA, "merge"); !errors.As(err, &final) {
		t.Errorf("twice: %v", err)
	}
	if err := s.client.DeleteBranch(t.Context(), 1, p.Head.Ref, p.Base.SHA); err != nil || s.count("DELETE ") != 0 {
		t.Errorf("a branch with another tip: %v", err)
	}
	for range 2 {
		if err := s.client.DeleteBranch(t.Context(), 1, p.Head.Ref, p.Head.SHA); err != nil || s.count("DELETE ") != 1 {
			t.Errorf("the branch: %v, %d requests", err, s.count("DELETE "))
		}
	}
}

// TestLandInAQueue holds that a pull request goes into the merge queue where its base branch wants that, with the head that was
// applied, and once.
func TestLandInAQueue(t *testing.T) {
	s := newSetting(t)
	s.repo.RequireQueue()
	p, err := s.client.PullRequest(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	var final *github.FinalError
	s.hub.Accepts("contents", "write")
	answer := ""
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		b, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(b))
		change := strings.Contains(answer, "enqueuePullRequest")
		if answer == "" || !strings.Contains(r.URL.Path, "graphql") || change != bytes.Contains(b, []byte("mutation")) {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(answer))
		return true
	}
	answer = `{"data":null,"errors":[{"message":"Field 'isMergeQueueEnabled' doesn't exist on type 'PullRequest'"}]}`
	if err := s.client.Land(t.Context(), 1, p.Head.SHA, "merge"); !errors.As(err, &final) || !strings.Contains(final.Why, "405") {
		t.Errorf("a server that knows no queues: %v", err)
	}
	answer = `{"data":{"enqueuePullRequest":null},"errors":[{"type":"UNPROCESSABLE","message":"The check has not passed"}]}`
	if err := s.client.Land(t.Context(), 1, p.Head.SHA, "merge"); !errors.As(err, &final) || final.Why != "GitHub says: The check has not passed" {
		t.Errorf("a refusal: %v", err)
	}
	answer = ""
	for range 2 {
		if err := s.client.Land(t.Context(), 1, p.Head.SHA, "merge"); !errors.Is(err, github.ErrQueued) {
			t.Errorf("into the queue: %v", err)
		}
	}
	q, err := s.client.Queue(t.Context(), 1)
	if err != nil || len(q) != 1 || q[0].By != "lockstep[bot]" {
		t.Errorf("the queue is %+v, %v", q, err)
	}
	s.repo.Dequeue(1)
	// The head moves between the two requests.
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut {
			return false
		}
		w.WriteHeader(http.StatusMethodNotAllowed)
		_, _ = w.Write([]byte(`{"message":"Changes must be made through the merge queue"}`))
		return true
	}
	if err := s.client.Land(t.Context(), 1, p.Base.SHA, "merge"); !errors.Is(err, github.ErrHeadMoved) {
		t.Errorf("another head: %v", err)
	}
}

// TestLandWithoutPermission names the permission that the App lacks.
func TestLandWithoutPermission(t *testing.T) {
	s := newSetting(t)
	p, err := s.client.PullRequest(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	var final *github.FinalError
	if err := s.client.Land(t.Context(), 1, p.Head.SHA, "merge"); !errors.As(err, &final) || !strings.Contains(final.Remedy, "permission to write contents") {
		t.Errorf("%v", err)
	}
	if err := s.client.DeleteBranch(t.Context(), 1, p.Head.Ref, p.Head.SHA); !errors.As(err, &final) {
		t.Errorf("the branch: %v", err)
	}
}

// TestBranchOfOthers holds that a branch stays that another pull request is to be merged into.
func TestBranchOfOthers(t *testing.T) {
	s := newSetting(t)
	s.hub.Accepts("contents", "write")
	p, err := s.client.PullRequest(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	s.repo.Push("alice", "stacked", "On top", map[string]string{"top.tf": ""})
	n := s.repo.OpenPull("alice", "On top", "stacked")
	s.repo.Retarget("alice", n, p.Head.Ref)
	if err := s.client.DeleteBranch(t.Context(), 1, p.Head.Ref, p.Head.SHA); err != nil || s.count("DELETE ") != 0 {
		t.Errorf("%v, %d requests", err, s.count("DELETE "))
	}
}

// TestBranchOfTwo holds that a branch stays that another open pull request merges into another branch.
func TestBranchOfTwo(t *testing.T) {
	s := newSetting(t)
	s.hub.Accepts("contents", "write")
	p, err := s.client.PullRequest(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	s.repo.Push("alice", "release", "Release", nil)
	n := s.repo.OpenPull("alice", "Into release", p.Head.Ref)
	s.repo.Retarget("alice", n, "release")
	if err := s.client.DeleteBranch(t.Context(), 1, p.Head.Ref, p.Head.SHA); err != nil || s.count("DELETE ") != 0 {
		t.Errorf("%v, %d requests", err, s.count("DELETE "))
	}
	s.repo.Close("alice", n)
	if err := s.client.DeleteBranch(t.Context(), 1, p.Head.Ref, p.Head.SHA); err != nil || s.count("DELETE ") != 1 {
		t.Errorf("once that is closed: %v, %d requests", err, s.count("DELETE "))
	}
}
