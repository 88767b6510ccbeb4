package dispatch_test

import (
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/metrics"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestMeasures holds that each message of a plan and an apply is counted with its result and its time, and GitHub's requests.
func TestMeasures(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	var mu sync.Mutex
	counts, sums := map[string]int{}, map[metrics.Name]float64{}
	s.pipeline.Measure = func(name metrics.Name, value float64, labels ...string) {
		mu.Lock()
		defer mu.Unlock()
		sums[name] += value
		if name == metrics.Messages {
			counts[labels[0]+" "+labels[1]]++
		}
	}
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.expect("the answer", s.say("alice", n, "lockstep apply"), "**Applied**")
	mu.Lock()
	defer mu.Unlock()
	if counts["plan handled"] != 1 || counts["apply handled"] != 1 || counts["commanded handled"] != 1 || counts["pushed handled"] == 0 {
		t.Errorf("%v", counts)
	}
	if sums[metrics.MessageSeconds] <= 0 || sums[metrics.GitHubRequests] < 5 {
		t.Errorf("%v", sums)
	}
}
