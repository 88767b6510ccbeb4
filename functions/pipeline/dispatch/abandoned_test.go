package dispatch_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestEventAbandoned holds that what an event asked for comes to an end with it, where the
// event is given up before it has sent its messages.
func TestEventAbandoned(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	refused := "none"
	s.refuse(func(x memory.Effect) bool {
		return strings.HasPrefix(x.Call, "check ") && strings.HasSuffix(x.Call, " "+refused)
	})
	refused = "Planning"
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.expect("the push", s.status(n), "failed to plan", "**Lockstep failed internally**")
	s.expect("its check", s.check("b"), "failure Failed to plan")
	s.expect("a plan", s.say("alice", n, "lockstep plan"), "**Lockstep failed internally**", "**Failed to plan** `.")
	refused = "none"
	s.expect("a plan", s.say("alice", n, "lockstep plan"), "**Planned** `.`: 2 to add")

	refused = "Queued – 2 to add, 0 to change, 0 to destroy"
	s.expect("an apply", s.say("alice", n, "lockstep apply"), "**Failed to apply** `.`. Nothing was changed. To try again, comment `lockstep apply`.")
	s.expect("the status", s.status(n), "To apply this plan, comment")
	s.expect("the check", s.check("b"), "success Ready to apply – 2 to add")
	refused = "none"
	s.expect("an apply", s.say("alice", n, "lockstep apply"), "**Applied** `.`: 2 added")
}

// whilePlanning is an engine during whose plans something happens.
type whilePlanning struct {
	jobs.Engine
	meanwhile func()
}

func (e whilePlanning) Plan(ctx context.Context, j jobs.Job) (jobs.PlanResult, error) {
	e.meanwhile()
	return e.Engine.Plan(ctx, j)
}

// TestEventAbandonedWhilePlanning holds that a plan under way is made, though the event that asked for it is given up.
func TestEventAbandonedWhilePlanning(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	var event pipeline.Message
	given := 0
	s.pipeline.Engine = whilePlanning{s.pipeline.Engine, func() {
		given++
		if err := s.pipeline.Abandon(t.Context(), event, "its process died"); err != nil {
			t.Error(err)
		}
	}}
	id := s.repo.Comment("alice", n, "lockstep plan")
	if _, err := s.hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
		if m.Kind == pipeline.Commanded {
			event = m
		}
		return s.pipeline.Handle(ctx, m)
	})
	s.settle()
	s.expect("the answer", s.answerTo(n, id), "**Planned** `.`: 2 to add", "its process died")
	s.expect("the check", s.check("b"), "success Ready to apply – 2 to add")
	if given != 1 {
		t.Errorf("it was planned %d times", given)
	}
}

// TestMergeAbandoned holds the same of an apply that a merge asked for.
func TestMergeAbandoned(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMerge())
	n := s.pull("alice", "subnet", githubtest.Files{"net/subnet.tf": resource("subnet", "v1")})
	s.refuse(checks(func(c github.Check) bool { return strings.HasPrefix(c.Title, "Applying") }))
	s.repo.Merge("alice", n)
	s.settle()
	s.expect("the answer", s.answer(n, "merge"), "**Lockstep failed internally**: 3 attempts failed or were interrupted.", "**Failed to apply** `net`.", "To try again, comment `lockstep retry`.")
	s.without("the answer", s.answer(n, "merge"), "write the comment again")
	s.expect("the status", s.status(n), "erged, not applied")
	s.expect("the check", s.check("subnet"), "action_required Merged, not applied")
}

// TestTellAbandoned holds that what could not be said is not forgotten: giving it up fails
// until GitHub takes it.
func TestTellAbandoned(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	down, applied := true, false
	s.refuse(func(x memory.Effect) bool {
		applied = applied || checks(func(c github.Check) bool { return strings.HasPrefix(c.Title, "Applied") })(x)
		return down && applied && x.Call == "comment"
	})
	id := s.repo.Comment("alice", n, "lockstep apply")
	if _, err := s.hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := s.data.Queue.Drain(t.Context(), localstore.Worker{Handle: s.pipeline.Handle, Abandon: s.pipeline.Abandon})
	if !errors.Is(err, errDown) {
		t.Fatalf("giving it up: %v", err)
	}
	s.expect("the answer meanwhile", s.answerTo(n, id), "is being applied")
	down = false
	s.settle()
	s.expect("the answer", s.answerTo(n, id), "**Applied** `.`: 2 added")
	s.expect("the status", s.status(n), "applied by")
}

// TestClosedNeverArrives holds that a merged pull request is in nobody's way, though
// nobody was told that it was merged.
func TestClosedNeverArrives(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	one := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.say("alice", one, "lockstep apply")
	s.repo.Merge("alice", one)
	s.hub.LoseDeliveries(1)
	s.settle()
	two := s.pull("bob", "c", githubtest.Files{"c.tf": resource("c", "1")})
	if got := s.status(two); strings.Contains(got, "is not merged yet") {
		t.Errorf("the status says of a merged pull request:\n%s", got)
	}
	s.expect("the apply", s.say("bob", two, "lockstep apply"), "**Applied** `.`: 1 added, 0 changed, 0 destroyed.")
}

// TestClosedAbandoned holds that a pull request that is closed is settled, though GitHub
// could not be reached when it was, and when that was given up.
func TestClosedAbandoned(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMerge())
	n := s.pull("alice", "subnet", githubtest.Files{"net/subnet.tf": resource("subnet", "v1")})
	away := true
	s.refuse(func(x memory.Effect) bool { return away && x.Call == "read pull" })
	s.repo.Merge("alice", n)
	if _, err := s.hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.data.Queue.Drain(t.Context(), localstore.Worker{Handle: s.pipeline.Handle, Abandon: s.pipeline.Abandon}); !errors.Is(err, errDown) {
		t.Fatalf("giving it up: %v", err)
	}
	away = false
	s.settle()
	s.expect("the answer", s.answer(n, "merge"), "**Lockstep failed internally**: handle 6299454ff21a6d8a3afaad799caec8cc: read pull: it is down.", "To try again, comment `lockstep retry`.")
	s.expect("the status", s.status(n), "erged, not applied")
	if got := usable(artifacts(t, s)); len(got) != 0 {
		t.Errorf("kept of a closed pull request: %q", got)
	}
}

// TestOpenedAgain holds that what was applied is in the way of others again, when its
// pull request is opened again.
func TestOpenedAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	one := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.say("alice", one, "lockstep apply")
	s.repo.Close("alice", one)
	s.settle()
	s.repo.Reopen("alice", one)
	s.settle()
	two := s.pull("bob", "c", githubtest.Files{"c.tf": resource("c", "1")})
	s.expect("the status", s.status(two), "#1 was applied to `.` and is not merged yet")
	s.expect("the apply", s.say("bob", two, "lockstep apply"), "**Not applied** `.`", "#1 was applied to the same state and is not merged yet")
}

// TestOpenedAgainUnnoticed holds the same where nobody has told so: an apply asks GitHub, also once its state is
// locked.
func TestOpenedAgainUnnoticed(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
		one := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
		s.say("alice", one, "lockstep apply")
		s.repo.Close("alice", one)
		s.settle()
		two := s.pull("bob", "c", githubtest.Files{"c.tf": resource("c", "1")})
		if !late {
			s.hub.LoseDeliveries(1)
			s.repo.Reopen("alice", one)
			s.settle()
			s.hub.LoseDeliveries(0)
			s.expect("the apply", s.say("bob", two, "lockstep apply"), "**Not applied** `.`", "#1 was applied to the same state and is not merged yet")
			continue
		}
		var once sync.Once
		s.pipeline.Engine = during{s.pipeline.Engine, func(jobs.BeforeApply) {
			once.Do(func() {
				s.hub.LoseDeliveries(1)
				s.repo.Reopen("alice", one)
			})
		}}
		s.expect("the apply", s.say("bob", two, "lockstep apply"), "**Not applied** `.`", "#1 was applied to the same state and is not merged yet")
	}
}

// TestNoRoomForTheResult holds that an apply is known, and told, though what it has to
// show could not be kept until its message had been given up.
func TestNoRoomForTheResult(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1"), "outputs.tf": "output \"size\" {\n  value = \"large\"\n}\n"})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	left := 1 + pipeline.MaxReceives
	s.refuse(func(x memory.Effect) bool {
		full := strings.HasPrefix(x.Call, "store ") && strings.Contains(x.Call, "/result-") && left > 0
		if full {
			left--
		}
		return full
	})
	s.expect("the answer", s.say("alice", n, "lockstep apply"), "**Applied** `.`: 2 added", "large")
	s.expect("the check", s.check("b"), "success Applied – 2 added")
	if left != 0 {
		t.Errorf("%d failures were not met", left)
	}
}

// TestMessageOfAnotherVersion holds that a command whose message has a kind of another version is answered once it is given up.
func TestMessageOfAnotherVersion(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	id := s.repo.Comment("alice", n, "lockstep apply")
	m := pipeline.Message{ID: "later-1", Kind: "later", Pull: s.ref(n), Actor: "alice", Comment: id}
	err := s.pipeline.Handle(t.Context(), m)
	if err == nil {
		t.Fatal("it was handled")
	}
	if err := s.pipeline.Abandon(t.Context(), m, err.Error()); err != nil {
		t.Fatal(err)
	}
	s.drain(t.Context(), s.pipeline.Handle)
	s.expect("the answer", s.answerTo(n, id), "**Lockstep failed internally**: handle later-1: there is no kind of message", "there is no kind of message `later`", "To try again, write the command in a new comment.")
}
