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
	t.Parallel()
	s := newStage(t, requiring("apply", "  checks = [\"ci/*\", \"last\"]"))
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("the status before", s.status(n), "**missing**")
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
		name := fmt.Sprintf("ci/%d", i)
		if i == 59 {
			name = "last"
		}
		s.repo.AddCheck("buildkite", github.Check{Name: name, SHA: s.repo.Head("b"), ExternalID: "x", Status: github.CheckCompleted, Conclusion: github.ConcludedSuccess, Title: "t", Summary: "s"})
		if _, err := s.hub.Deliver(t.Context()); err != nil {
			t.Error(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	looks := 2 + int(time.Since(began)/s.pipeline.LookEvery)
	for deadline := time.Now().Add(time.Minute); strings.Contains(s.status(n), "**missing**") || left(s) > 0; {
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
