package dispatch_test

import (
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestMergedUnheard holds that a merge of which no webhook has told, and that no list of deliveries has, is found and applied:
// the App was not installed at that time, or everything that GitHub sent is lost for longer than it remembers.
func TestMergedUnheard(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before, after func(*stage)
		open          bool // there is another pull request
		later         time.Duration
		found         int // before the time is over
	}{
		"not installed": {func(s *stage) { s.repo.Uninstall("alice") }, func(s *stage) { s.repo.Install("alice") }, true, time.Hour, 0},
		"lost":          {func(s *stage) { s.hub.LoseDeliveries(1 << 20) }, func(s *stage) { s.delivered(); s.hub.LoseDeliveries(0) }, true, 4 * 24 * time.Hour, 0},
		"the last":      {func(s *stage) { s.hub.LoseDeliveries(1 << 20) }, func(s *stage) { s.delivered(); s.hub.LoseDeliveries(0) }, false, time.Hour, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, b := newBuckets(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": "project \"net\" {\n  dir   = \"net\"\n  apply = \"merge\"\n}\n"})
			n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
			closed := s.pull("bob", "c", githubtest.Files{"net/c.tf": resource("c", "1")})
			if test.open {
				s.pull("bob", "d", githubtest.Files{"README.md": "x"})
			}
			begun := s.hub.Now().Add(time.Minute)
			ended := func(at time.Time, want int) {
				t.Helper()
				j := &reconcile.Janitor{Pipeline: s.pipeline, App: noDeliveries{s.app}, Connect: func(installation int64, r github.Repo) (reconcile.Repository, error) {
					return s.app.Repository(installation, r)
				}}
				if f, err := j.Round(t.Context(), at); err != nil || f.Closed != want {
					t.Errorf("%s: %+v, %v", at, f, err)
				}
				s.settle()
			}
			ended(begun, 0)
			test.before(s)
			s.settle()
			s.repo.Merge("alice", n)
			s.repo.Close("bob", closed)
			s.settle()
			test.after(s)
			s.settle()
			ended(begun.Add(50*time.Minute), test.found)
			ended(begun.Add(test.later), 2-test.found)
			s.expect("the status", s.status(n), "applied by `alice`")
			s.expect("the other", s.status(closed), "closed")
			if got := b.objects(t, "s3://states/net"); got != "a b" {
				t.Errorf("the state has %q", got)
			}
			ended(begun.Add(test.later+2*time.Hour), 0)
		})
	}
}
