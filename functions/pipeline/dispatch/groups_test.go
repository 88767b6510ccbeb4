package dispatch_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// lagQueue has the API of GitHub not know the merge queue for a number of requests, and counts all of them.
func (s *stage) lagQueue(n int) *atomic.Int64 {
	asked := &atomic.Int64{}
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/graphql" {
			return false
		}
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !strings.Contains(string(body), "mergeQueue") || asked.Add(1) > int64(n) {
			return false
		}
		fmt.Fprintf(w, `{"data":{"repository":{"databaseId":%d,"pullRequest":{"mergeQueue":null}}}}`, s.repo.Repo().ID)
		return true
	}
	return asked
}

// nothingWaits holds that no message is left.
func (s *stage) nothingWaits() {
	s.t.Helper()
	if waiting, err := s.data.Queue.Waiting(s.t.Context()); err != nil || waiting > 0 {
		s.t.Errorf("%d messages wait, %v", waiting, err)
	}
}

// TestMergeGroupUnknownYet holds that a merge group which GitHub tells of before its API knows it gets its check as soon as it
// does, and that nobody waits for one that never comes.
func TestMergeGroupUnknownYet(t *testing.T) {
	t.Parallel()
	for lag, want := range map[int]string{0: "completed success", 1: "completed success", 2: "completed success", 1000: ""} {
		s := newStage(t, onMergeNet())
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
		asked := s.lagQueue(lag)
		at := s.repo.Enqueue("alice", n)
		s.delivered()
		var again []time.Duration
		s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
			err := s.pipeline.Handle(ctx, m)
			if err != nil {
				again = append(again, pipeline.Redelivery(len(again)+1, err, time.Now()).Round(time.Second))
			}
			return err
		})
		if got := s.group(at); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("after %d answers without it the check of the group is %q", lag, got)
		}
		if got, want := fmt.Sprint(again), fmt.Sprint([]time.Duration{11 * time.Second, 31 * time.Second}[:min(lag, 2)]); got != want {
			t.Errorf("after %d answers without it the message comes again after %s, want %s", lag, got, want)
		}
		if lag == 1000 && asked.Load() != 3 {
			t.Errorf("it was asked for %d times", asked.Load())
		}
		s.nothingWaits()
	}
}

// TestMergeQueueEmptiedUnseen holds that a queue which is emptied before anybody looks leaves nothing that waits, and that the
// next group of the pull request has its check.
func TestMergeQueueEmptiedUnseen(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMergeNet())
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	m := s.pull("bob", "words", githubtest.Files{"doc.md": "words"})
	first, second := s.repo.Enqueue("alice", n), s.repo.Enqueue("bob", m)
	s.repo.Dequeue(n) // and #2, which is behind it
	s.settle()
	for _, sha := range []string{first, second} {
		if got := s.group(sha); got != "" {
			t.Errorf("the check of a group that nobody waits for: %s", got)
		}
	}
	s.nothingWaits()
	s.repo.Push("bob", "main", "Words", githubtest.Files{"more.md": "words"})
	third := s.repo.Enqueue("bob", m)
	s.settle()
	s.expect("the next group", s.group(third), "completed success")
	s.expect("a comment meanwhile", s.say("alice", n, "lockstep plan"), "**Planned** `net`")
	s.nothingWaits()
}
