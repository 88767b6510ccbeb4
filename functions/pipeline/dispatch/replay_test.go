package dispatch_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// forget removes the records whose keys begin so, as time does.
func (s *stage) forget(dirs ...string) {
	s.t.Helper()
	for _, dir := range dirs {
		list, err := s.records.List(s.t.Context(), dir)
		for _, r := range list {
			err = errors.Join(err, s.records.Delete(s.t.Context(), r.Key, r.Version))
		}
		if err != nil || len(list) == 0 {
			s.t.Fatalf("%s: %d records, %v", dir, len(list), err)
		}
	}
}

// TestReplays carries out an attack: somebody has seen the webhooks, and sends each body and
// signature again under another GUID, and under the names of other events. It holds that
// nothing follows from it, buttons included, which no comment's ID tells apart.
func TestReplays(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.strict = true
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.say("alice", n, "lockstep plan")
	s.repo.Rerequest("alice", s.repo.Checks(s.repo.Head("b"))[0].ID)
	s.settle()
	s.say("bob", n, "lockstep apply")
	s.repo.Merge("alice", n)
	s.settle()
	was := strings.Join(s.hub.Lines(), "\n")
	refused := 0
	for i, guid := range s.hub.Deliveries() {
		for j, event := range []string{"", "pull_request", "issue_comment", "pull_request_review", "check_run", "check_suite", "ping"} {
			as := fmt.Sprintf("00000000-0000-4000-9000-%06x%06x", i, j)
			status, answer, err := s.hub.Replay(t.Context(), guid, as, event)
			if err != nil || strings.Contains(answer, `"queued"`) || status != 202 && status != 400 {
				t.Errorf("delivery %s again, as %s %s: %d %s, %v", guid, as, event, status, answer, err)
			}
			if strings.Contains(answer, "as another delivery") {
				refused++
			}
		}
	}
	if refused < 5 {
		t.Errorf("%d replays were refused as such", refused)
	}
	s.settle()
	if got := strings.TrimPrefix(strings.Join(s.hub.Lines(), "\n"), was); got != "" {
		t.Errorf("the replays led to%s", got)
	}
}

// TestOtherEvent holds that a body does not pass for another event's, not even the first
// time that it comes.
func TestOtherEvent(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.repo.Review("bob", n, "approved", "Fine.")
	s.repo.Rerequest("alice", s.repo.Checks(s.repo.Head("b"))[0].ID)
	all := s.hub.Deliveries()
	for _, test := range []struct{ guid, event string }{
		{all[len(all)-2], "pull_request"}, {all[len(all)-1], "check_suite"}, {all[0], "pull_request_review"}, {all[len(all)-1], "pull_request"},
	} {
		status, answer, err := s.hub.Replay(t.Context(), test.guid, "", test.event)
		if err != nil || status != 400 {
			t.Errorf("%s as %s: %d %s, %v", test.guid, test.event, status, answer, err)
		}
	}
}

// TestDeathWhileReceiving lets the process die at each write of receiving a comment. GitHub
// delivers it again under its GUID, and it is carried out, once; afterwards a replay under
// another GUID is refused.
func TestDeathWhileReceiving(t *testing.T) {
	t.Parallel()
	for _, how := range []fault{undone, done} {
		for at := 0; ; at++ {
			s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
			n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
			id := s.repo.Comment("alice", n, "lockstep plan")
			guid := s.hub.Deliveries()[len(s.hub.Deliveries())-1]
			f := &faults{at: at, how: how}
			f.use(s)
			_, err := s.hub.Deliver(t.Context())
			died := f.died != ""
			f.at = -1
			if died != (err != nil) {
				t.Fatalf("%s: %v", f, err)
			}
			if died {
				if _, err := s.hub.Redeliver(t.Context(), guid); err != nil {
					t.Errorf("%s: %v", f, err)
				}
			}
			s.settle()
			if got := s.answerTo(n, id); !strings.Contains(got, "**Planned** `.`") {
				t.Errorf("%s: the answer is %q", f, got)
			}
			was := len(s.hub.Lines())
			if _, answer, err := s.hub.Replay(t.Context(), guid, "00000000-0000-4000-9000-000000000001", ""); err != nil || !strings.Contains(answer, "refused") {
				t.Errorf("%s: a replay: %s, %v", f, answer, err)
			}
			s.settle()
			if got := len(s.hub.Lines()); got != was {
				t.Errorf("%s: a replay led to %d more lines", f, got-was)
			}
			if !died {
				if at < 4 {
					t.Errorf("receiving has only %d writes", at)
				}
				break
			}
		}
	}
}

// TestOldCommands holds that a command is not carried out again when its webhook is
// delivered again after long: neither by what knows that it was answered, nor, when
// that is gone as well, by its age.
func TestOldCommands(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.strict = true
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	before := len(s.hub.Deliveries())
	s.say("alice", n, "lockstep plan")
	commanded := s.hub.Deliveries()[before]
	s.say("bob", n, "lockstep plan")
	lines := func() string { return strings.Join(s.hub.Lines(), "\n") }

	was := lines()
	s.forget("delivery", "message")
	if answer, err := s.hub.Redeliver(t.Context(), commanded); err != nil || !strings.Contains(answer, "queued") {
		t.Fatalf("delivered again: %s, %v", answer, err)
	}
	s.settle()
	if got := strings.TrimPrefix(lines(), was); got != "" {
		t.Errorf("a command that was answered led to%s", got)
	}

	for age, want := range map[time.Duration]bool{pipeline.Memory - time.Hour: true, pipeline.Memory + time.Hour: false} {
		id := s.repo.Comment("alice", n, "Never mind.")
		s.settle()
		was := lines()
		m := pipeline.Message{
			ID: fmt.Sprint("old-", age), Kind: pipeline.Commanded, Pull: s.ref(n), Comment: id, Actor: "alice",
			At: s.hub.Now().Add(-age), Lines: grammar.Parse("lockstep plan"),
		}
		if err := s.pipeline.Queue.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		s.settle()
		if got := strings.TrimPrefix(lines(), was); (got != "") != want {
			t.Errorf("a command that is %s old led to%s", age, got)
		}
	}
}
