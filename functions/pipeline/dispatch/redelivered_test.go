package dispatch_test

import (
	"strings"
	"testing"

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
