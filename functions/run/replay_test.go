package run_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/run"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// forget removes the records whose keys begin so, as time does.
func (s *stage) forget(dirs ...string) {
	s.t.Helper()
	for _, dir := range dirs {
		list, err := s.data.Records.List(s.t.Context(), dir)
		for _, r := range list {
			err = errors.Join(err, s.data.Records.Delete(s.t.Context(), r.Key, r.Version))
		}
		if err != nil || len(list) == 0 {
			s.t.Fatalf("%s: %d records, %v", dir, len(list), err)
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

	for age, want := range map[time.Duration]bool{run.Memory - time.Hour: true, run.Memory + time.Hour: false} {
		id := s.repo.Comment("alice", n, "Never mind.")
		s.settle()
		was := lines()
		m := run.Message{
			ID: fmt.Sprint("old-", age), Kind: run.Commanded, Pull: s.ref(n), Comment: id, Actor: "alice",
			At: s.hub.Now().Add(-age), Lines: comment.Parse("lockstep plan"),
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
