package dispatch_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestManyChecks holds that check runs which end one after the other cost few requests to GitHub, however many there are, that the last of
// them opens the gate all the same.
func TestManyChecks(t *testing.T) {
	many(t, "  checks = [\"ci/*\", \"last\"]", func(s *stage, _ int, last bool, i int) {
		name := fmt.Sprintf("ci/%d", i)
		if last {
			name = "last"
		}
		s.repo.AddCheck("buildkite", github.Check{Name: name, SHA: s.repo.Head("b"), ExternalID: "x", Status: github.CheckCompleted, Conclusion: github.ConcludedSuccess, Title: "t", Summary: "s"})
	})
}

// TestManyReviews holds the same for reviews without commands, which anybody may submit.
func TestManyReviews(t *testing.T) {
	many(t, "  approvals = 1", func(s *stage, n int, last bool, i int) {
		if last {
			s.repo.Review("bob", n, github.Approved, "")
			return
		}
		s.repo.Review("mallory", n, github.Commented, "By the way")
	})
}

// TestManyOverrides holds the same for comments with an override by somebody who may not, which are edited.
func TestManyOverrides(t *testing.T) {
	id := int64(0)
	many(t, "  approvals = 1", func(s *stage, n int, last bool, i int) {
		switch {
		case last:
			s.repo.Review("bob", n, github.Approved, "")
		case i == 0:
			id = s.repo.Comment("mallory", n, "lockstep override --reason mine")
		default:
			s.repo.EditComment("mallory", id, fmt.Sprint("lockstep override --reason ", i))
		}
	})
}

// many has something happen often, the last time of which opens the gate, and counts the requests.
func many(t *testing.T, gate string, happen func(s *stage, n int, last bool, i int)) {
	t.Parallel()
	s := newStage(t, requiring("apply", gate))
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("the status before", s.status(n), "**not met**")
	s.pipeline.LookEvery = 2 * time.Second
	c := &counted{kinds: map[string]int{}}
	s.answered = c.count
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- s.data.Queue.Work(ctx, localstore.Worker{Handle: s.pipeline.Handle, Abandon: func(_ context.Context, m pipeline.Message, why string) error {
			t.Errorf("%s is given up: %s", m.Kind, why)
			return nil
		}})
	}()
	began := time.Now()
	for i := range 60 {
		happen(s, n, i == 59, i)
		if _, err := s.hub.Deliver(t.Context()); err != nil {
			t.Error(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	looks := 2 + int(time.Since(began)/s.pipeline.LookEvery)
	for deadline := time.Now().Add(time.Minute); strings.Contains(s.status(n), "**not met**") || left(s) > 0; {
		if time.Now().After(deadline) {
			t.Fatalf("the gate stays shut:\n%s", s.status(n))
		}
		time.Sleep(50 * time.Millisecond)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got, want := c.sum(""), 20*(looks+1); got > want {
		t.Errorf("more than %d requests, for %d looks:\n%s", want, looks, c)
	}
	s.expect("the status", s.status(n), "lockstep apply")
}

func left(s *stage) int {
	n, err := s.data.Queue.Waiting(s.t.Context())
	if err != nil {
		s.t.Error(err)
	}
	return n
}
