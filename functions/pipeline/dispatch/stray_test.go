package dispatch_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// away is a stage with two plans of which one is applied after the other, whose repository goes out of reach with the next message of a
// kind, after somebody has done something, and is back then, with what is found.
func away(t *testing.T, kind pipeline.Kind, do func(*stage, int) int64, found reconcile.Found) (s *stage, n int, comment int64) {
	t.Helper()
	s = newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": appLast})
	s.pipeline.Log = func(error) {}
	n = s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")})
	s.round(reconcile.Found{})
	comment = do(s, n)
	s.leavesWith(kind, func() { s.repo.Uninstall("alice") })
	s.round(reconcile.Found{})
	githubtest.Install(s.repo, "alice")
	s.settle()
	s.round(found)
	s.round(reconcile.Found{})
	return s, n, comment
}

// leavesWith lets everything happen that follows, and has the repository go out of reach just before the first message of a kind.
func (s *stage) leavesWith(kind pipeline.Kind, leave func()) {
	s.t.Helper()
	gone := false
	for {
		sent, err := s.hub.Deliver(s.t.Context())
		if err != nil {
			s.t.Fatal(err)
		}
		handled := s.drain(s.t.Context(), func(ctx context.Context, m pipeline.Message) error {
			if m.Kind == kind && !gone {
				gone = true
				leave()
			}
			return s.pipeline.Handle(ctx, m)
		})
		if sent+handled == 0 {
			break
		}
	}
	if !gone {
		s.t.Errorf("there was no message %s", kind)
	}
}

// TestRepositoryIsBack holds that nothing waits for ever for a message whose repository was out of reach when its turn came, since somebody
// had taken the App off it: an apply that was not begun is told as not applied, and all else is made good.
func TestRepositoryIsBack(t *testing.T) {
	t.Parallel()
	says := func(text string) func(*stage, int) int64 {
		return func(s *stage, n int) int64 { return s.repo.Comment("bob", n, text) }
	}
	t.Run("an apply", func(t *testing.T) {
		t.Parallel()
		s, n, id := away(t, pipeline.ToApply, says("lockstep apply"), reconcile.Found{Strays: 1})
		s.expect("the answer", s.answerTo(n, id), "**Failed to apply** `net`. Nothing was changed. To try again, comment `lockstep apply`.", "out of Lockstep's reach when the turn of this apply came")
		s.lacks("the state", made(t, s, "net"), "serial 1")
		s.expect("the next apply", s.say("bob", n, "lockstep apply"), "**Applied** `net`: 2 added", "**Applied** `app`: 2 added")
	})
	t.Run("a push after it", func(t *testing.T) {
		t.Parallel()
		s, n, _ := away(t, pipeline.ToApply, says("lockstep apply"), reconcile.Found{Strays: 1})
		s.repo.Push("alice", "b", "More", githubtest.Files{"net/c.tf": resource("c", "1")})
		s.settle()
		s.expect("the status", s.status(n), "| ready to apply | `net` | 3 to add, 0 to change, 0 to destroy |")
	})
	t.Run("an apply that was done", func(t *testing.T) {
		t.Parallel()
		s, n, id := away(t, pipeline.SyncComments, says("lockstep apply -p net"), reconcile.Found{Strays: 1, States: 1})
		s.expect("the answer", s.answerTo(n, id), "**Applied** `net`: 2 added")
		s.expect("its check", string(s.checkOf("b", "lockstep/net").Conclusion), "success")
	})
	t.Run("a plan", func(t *testing.T) {
		t.Parallel()
		s, n, id := away(t, pipeline.ToPlan, says("lockstep plan"), reconcile.Found{Strays: 2})
		s.expect("the answer", s.answerTo(n, id), "**Planned** `net`: 2 to add", "**Planned** `app`: 2 to add")
		s.headIs("planned again", "b", "neutral 2 projects ready to apply – 4 to add, 0 to change, 0 to destroy")
	})
	t.Run("a recovery", func(t *testing.T) {
		t.Parallel()
		s, n, id := away(t, pipeline.ToRecover, func(s *stage, n int) int64 {
			s.say("bob", n, "lockstep apply")
			return s.repo.Comment("bob", n, "lockstep recover -p net")
		}, reconcile.Found{Strays: 1})
		s.expect("the answer", s.answerTo(n, id), "`net`: **nothing to recover**")
	})
	t.Run("a comment whose answer is begun", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject})
		s.pipeline.Log = func(error) {}
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
		s.round(reconcile.Found{})
		id := s.repo.Comment("bob", n, "lockstep plan")
		away := false
		s.fault = func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/reactions") && !away {
				away = true
				s.repo.Uninstall("alice")
			}
			return false
		}
		m := s.held(pipeline.Commanded)
		for range 2 {
			if s.pipeline.Handle(t.Context(), m) == nil {
				break
			}
		}
		if s.answerTo(n, id) != "" || !away {
			t.Fatalf("it is answered: %s", s.answerTo(n, id))
		}
		s.settle()
		githubtest.Install(s.repo, "alice")
		s.settle()
		s.round(reconcile.Found{Strays: 1})
		s.expect("the answer", s.answerTo(n, id), "**Planned** `net`: 2 to add")
	})
	t.Run("a merge group", func(t *testing.T) {
		t.Parallel()
		at := ""
		s, _, _ := away(t, pipeline.Grouped, func(s *stage, n int) int64 {
			at = s.repo.Enqueue("bob", n)
			return 0
		}, reconcile.Found{Strays: 1})
		s.expect("its check", s.group(at), "completed neutral 2 projects ready to apply")
	})
	t.Run("one that is not served", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject})
		s.pipeline.Log = func(error) {}
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
		id := s.repo.Comment("bob", n, "lockstep apply")
		serves := s.pipeline.Serves
		s.leavesWith(pipeline.ToApply, func() { s.pipeline.Serves = intake.Serves{} })
		s.round(reconcile.Found{})
		s.pipeline.Serves = serves
		s.round(reconcile.Found{Strays: 1})
		s.expect("the answer", s.answerTo(n, id), "**Failed to apply** `net`. Nothing was changed. To try again, comment `lockstep apply`.")
	})
}

// TestStrayInVain holds that a message which comes to nobody again and again is given up: its pull request is gone.
func TestStrayInVain(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject})
	s.pipeline.Log = func(error) {}
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	if err := s.pipeline.Queue.Send(t.Context(), pipeline.Message{ID: "tell-x-1", Kind: pipeline.SyncComments, Pull: s.ref(n + 100)}); err != nil {
		t.Fatal(err)
	}
	s.settle()
	found := 0
	for i := range time.Duration(10) {
		f, err := s.janitor().Round(t.Context(), s.hub.Now().Add(i*20*time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		found += f.Strays
		s.settle()
	}
	if found != 5 {
		t.Errorf("it was sent again %d times", found)
	}
}
