package dispatch_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestReplayedDelivery holds that a webhook which was received is refused when it comes
// again, and that nothing is sent for it.
func TestReplayedDelivery(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	before := len(s.hub.Deliveries())
	s.say("alice", n, "lockstep plan")
	s.forget("message") // what knows that a message was sent
	was := strings.Join(s.hub.Lines(), "\n")
	answer, err := s.hub.Redeliver(t.Context(), s.hub.Deliveries()[before])
	if err != nil || !strings.Contains(answer, "refused: this delivery was received before") {
		t.Fatalf("%s %v", answer, err)
	}
	if waiting, err := s.data.Queue.Waiting(t.Context()); err != nil || waiting > 0 {
		t.Errorf("%d messages wait, %v", waiting, err)
	}
	s.settle()
	if got := strings.TrimPrefix(strings.Join(s.hub.Lines(), "\n"), was); got != "" {
		t.Errorf("it led to%s", got)
	}
}

// stuffed is a queue that takes nothing.
type stuffed struct{ pipeline.Queue }

func (stuffed) Send(context.Context, pipeline.Message) error { return errors.New("the queue is full") }

// TestReceivedAndNotSent holds that a webhook whose receiver died before it sent a message is received to its end when it
// comes again. Of a close nobody else would ever know.
func TestReceivedAndNotSent(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	real := s.webhook.Intake.Queue
	s.webhook.Intake.Queue, s.webhook.Log = stuffed{real}, func(error) {}
	s.repo.Close("alice", n)
	if _, err := s.hub.Deliver(t.Context()); err == nil {
		t.Fatal("it was received")
	}
	s.webhook.Intake.Queue = real
	all := s.hub.Deliveries()
	if answer, err := s.hub.Redeliver(t.Context(), all[len(all)-1]); err != nil || !strings.Contains(answer, `"queued"`) {
		t.Errorf("%q, %v", answer, err)
	}
	s.settle()
	s.expect("the check", s.check("b"), "cancelled Closed")
}
