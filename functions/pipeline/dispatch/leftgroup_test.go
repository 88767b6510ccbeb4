package dispatch_test

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestMergedBesideTheQueue holds that the check of a merge group comes to an end if its pull request is merged by hand, or leaves the
// queue, whatever of its plans is made by then and whichever webhook comes first.
func TestMergedBesideTheQueue(t *testing.T) {
	t.Parallel()
	ends := map[string]func(s *stage, n int){
		"out of the queue, and merged": func(s *stage, n int) { s.repo.Dequeue(n); s.repo.Merge("bob", n) },
		"merged, and out of the queue": func(s *stage, n int) { s.repo.Merge("bob", n); s.repo.Dequeue(n) },
		"merged by who may not plan":   func(s *stage, n int) { s.repo.Dequeue(n); s.repo.Merge("mallory", n) },
		"merged, and nobody tells of the queue": func(s *stage, n int) {
			s.repo.Merge("bob", n)
			s.delivered()
			s.hub.LoseDeliveries(1)
			s.repo.Dequeue(n)
			s.delivered()
			s.hub.LoseDeliveries(0)
		},
		"out of the queue":             func(s *stage, n int) { s.repo.Dequeue(n) },
		"out of the queue, and closed": func(s *stage, n int) { s.repo.Dequeue(n); s.repo.Close("bob", n) },
		"closed, and out of the queue": func(s *stage, n int) { s.repo.Close("bob", n); s.repo.Dequeue(n) },
	}
	for name, end := range ends {
		for _, waiting := range []pipeline.Kind{"", pipeline.ToQueue, pipeline.ToPlan, pipeline.Pushed} {
			s := newStage(t, onMergeNet())
			s.repo.Push("alice", "b", "B", githubtest.Files{"net/b.tf": resource("b", "1")})
			n := s.repo.OpenPull("alice", "B", "b")
			if waiting == pipeline.ToQueue {
				s.settle()
			}
			at := s.repo.Enqueue("alice", n)
			s.settleBut(waiting)
			before := s.group(at)
			end(s, n)
			s.settle()
			if got := s.group(at); got != "" && !strings.HasPrefix(got, "completed") {
				t.Errorf("%s, but for %q: before %q, and now %q", name, waiting, before, got)
			}
		}
	}
}
