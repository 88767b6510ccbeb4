package dispatch_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/metrics"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestMeasures holds that each message of a plan and an apply is counted with its result and its time, and GitHub's requests; and that
// the span of a message belongs to that of its cause.
func TestMeasures(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	var mu sync.Mutex
	counts, sums := map[string]int{}, map[metrics.Name]float64{}
	s.pipeline.Measure = func(name metrics.Name, value float64, labels ...string) {
		mu.Lock()
		defer mu.Unlock()
		sums[name] += value
		if name == metrics.Messages || name == metrics.Runs {
			counts[strings.Join(labels, " ")]++
		}
	}
	parents := map[metrics.Parent]string{} // names of spans, by the span
	s.pipeline.Trace = func(parent metrics.Parent, name string, start time.Time, attributes ...string) (metrics.Parent, func(error)) {
		mu.Lock()
		defer mu.Unlock()
		if parent != "" && (parents[parent] == "" || !start.IsZero()) {
			t.Errorf("%s has the parent %q and begins at %v", name, parent, start)
		}
		span := strings.TrimPrefix(parents[parent]+" > "+name, " > ")
		parents[span] = span
		return span, func(error) {}
	}
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.expect("the answer", s.say("alice", n, "lockstep apply"), "**Applied**")
	mu.Lock()
	defer mu.Unlock()
	if counts["plan handled"] != 1 || counts["apply handled"] != 1 || counts["commanded handled"] != 1 || counts["pushed handled"] == 0 {
		t.Errorf("%v", counts)
	}
	if counts["plan succeeded"] != 1 || counts["apply succeeded"] != 1 || sums[metrics.PlanReadySeconds] <= 0 {
		t.Errorf("%v, %v", counts, sums)
	}
	if parents["pushed > plan"] == "" || parents["commanded > apply"] == "" {
		t.Errorf("the spans are %v", parents)
	}
	if sums[metrics.MessageSeconds] <= 0 || sums[metrics.GitHubRequests] < 5 {
		t.Errorf("%v", sums)
	}
}
