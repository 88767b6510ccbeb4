package dispatch_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/github/githubtest"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// lockable has the states of a stage in a backend whose locks outlive who took them.
func (s *stage) lockable() statebackend.Workspace {
	s.t.Helper()
	fake := &statebackendtest.Fake{}
	s.pipeline.Engine = &executor.Engine{Version: "test", Backend: func(context.Context, jobs.Job, *workdir.Settings) (statebackend.Backend, diags.Diagnostics) {
		return fake, nil
	}}
	w, err := fake.Open(statebackend.DefaultWorkspace)
	if err != nil {
		s.t.Fatal(err)
	}
	return w
}

// lock takes the lock of a state as somebody does who says text.
func (s *stage) lock(w statebackend.Workspace, who, text string) (id string) {
	s.t.Helper()
	info := statebackend.LockInfo{
		ID: "00000000-0000-4000-8000-00000000beef", Operation: "OperationTypeApply", Info: text, Who: who, Version: "1.11.4",
		Created: time.Date(2025, 1, 2, 15, 4, 5, 0, time.UTC),
	}
	if _, err := w.Lock(s.t.Context(), info); err != nil {
		s.t.Fatal(err)
	}
	return info.ID
}

func (s *stage) locks(w statebackend.Workspace) int {
	s.t.Helper()
	held, err := w.Locks(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return len(held)
}

// ofRun is what the lock of a run of a pull request says.
func ofRun(number int) string {
	return fmt.Sprintf("lockstep acme/infra#%d: a run of project . at 1234567; and what to do", number)
}

// TestUnlock tells what people read when a state is locked, and what an unlock does
// about it: who holds the lock is who matters, and not who asks, as long as they may.
func TestUnlock(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.strict = true
	w := s.lockable()
	one := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	two := s.pull("bob", "c", githubtest.Files{"c.tf": resource("c", "1")})
	var told []string
	tell := func(what, who string, number int, text string) {
		t.Helper()
		told = append(told, fmt.Sprintf("%s: %s comments %q on #%d\n\n%s", what, who, text, number, s.say(who, number, text)))
	}
	count := func(want int) {
		t.Helper()
		if got := s.locks(w); got != want {
			t.Errorf("%s\nthere are %d locks, want %d", told[len(told)-1], got, want)
		}
	}

	tell("Nothing is locked", "alice", one, "lockstep unlock")

	s.lock(w, "sbx_user1051@169.254.0.1", ofRun(one))
	tell("A run of #1 has died", "alice", one, "lockstep plan")
	tell("A run of #1 has died", "alice", one, "lockstep apply")
	tell("A run of #1 has died", "bob", two, "lockstep apply")
	tell("A run of #1 has died", "bob", two, "lockstep unlock")
	tell("A run of #1 has died", "mallory", one, "lockstep unlock")
	tell("A run of #1 has died", "bob", one, "lockstep unlock -p other")
	count(1)
	tell("A run of #1 has died", "bob", one, "lockstep unlock")
	count(0)
	tell("It is unlocked", "bob", one, "lockstep unlock")

	person := s.lock(w, "carol@laptop", "")
	tell("A person is at work", "alice", one, "lockstep apply")
	tell("A person is at work", "alice", one, "lockstep unlock")
	count(1)
	if err := w.Unlock(t.Context(), person); err != nil {
		t.Fatal(err)
	}

	s.lock(w, "sbx_user1051@169.254.0.1", ofRun(one))
	s.repo.Close("alice", one)
	s.settle()
	tell("A run of #1 has died, and #1 is closed", "alice", one, "lockstep unlock")
	count(0)
	tell("All is well", "bob", two, "lockstep plan")
	s.golden("unlock", told...)
	for _, no := range []string{"force-unlock", "-lock=false", "sbx_user", s.data.States} {
		if strings.Contains(strings.Join(told, "\n"), no) {
			t.Errorf("people read %q, which is not for them", no)
		}
	}
}

// whileApplying is an engine in whose applies something happens.
type whileApplying struct {
	jobs.Engine
	meanwhile func()
}

func (e whileApplying) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	return e.Engine.Apply(ctx, j, plan, func(id jobs.BeforeApply) jobs.Permit {
		ok := permit(id)
		e.meanwhile()
		return ok
	})
}

// TestUnlockOfALiveApply holds that nobody takes the lock from an apply that is under
// way, or about to be.
func TestUnlockOfALiveApply(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	w := s.lockable()
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	unlock := func() int64 {
		id := s.repo.Comment("bob", n, "lockstep unlock")
		m := pipeline.Message{ID: fmt.Sprint("unlock-", id), Kind: pipeline.Commanded, Pull: s.ref(n), Comment: id, Actor: "bob", Lines: grammar.Parse("lockstep unlock")}
		if err := s.pipeline.Handle(t.Context(), m); err != nil {
			t.Error(err)
		}
		return id
	}
	held, under := 0, int64(0)
	s.pipeline.Engine = whileApplying{s.pipeline.Engine, func() { under = unlock(); held = s.locks(w) }}
	id := s.repo.Comment("alice", n, "lockstep apply")
	if _, err := s.hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	queued := int64(0)
	s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
		if m.Kind == pipeline.ToApply {
			queued = unlock()
		}
		return s.pipeline.Handle(ctx, m)
	})
	s.settle()
	for _, id := range []int64{queued, under} {
		s.expect("the answer", s.answerTo(n, id), "**Not unlocked** `.`", "An apply that `alice` requested is in progress.", "Wait: the apply releases its lock when it ends. To end it early, comment `lockstep stop`.")
	}
	s.expect("the apply", s.answerTo(n, id), "**Applied** `.`: 2 added")
	if held != 1 || s.locks(w) != 0 {
		t.Errorf("%d locks during the apply, %d after it", held, s.locks(w))
	}
}

// TestUnlockOfAnotherProject holds that a project's unlock does not take the lock from an
// apply of another project that has the same state, as one has that was renamed by a push
// meanwhile.
func TestUnlockOfAnotherProject(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"lockstep.hcl": "project \"old\" {\n  dir = \"old\"\n}\nproject \"new\" {\n  dir = \"new\"\n}\n", "old/main.tf": resource("a", "1"), "new/main.tf": resource("a", "1")})
	w := s.lockable()
	n := s.pull("alice", "b", githubtest.Files{"old/b.tf": resource("b", "1"), "new/b.tf": resource("b", "1")})
	held, asked := 0, int64(0)
	s.pipeline.Engine = whileApplying{s.pipeline.Engine, func() {
		asked = s.repo.Comment("bob", n, "lockstep unlock -p new")
		m := pipeline.Message{ID: fmt.Sprint("unlock-", asked), Kind: pipeline.Commanded, Pull: s.ref(n), Comment: asked, Actor: "bob", Lines: grammar.Parse("lockstep unlock -p new")}
		if err := s.pipeline.Handle(t.Context(), m); err != nil {
			t.Error(err)
		}
		held = s.locks(w)
	}}
	s.expect("the apply", s.say("alice", n, "lockstep apply -p old"), "**Applied** `old`: 2 added")
	s.expect("the unlock", s.answerTo(n, asked), "This pull request has **no lock** on")
	if held != 1 || s.locks(w) != 0 {
		t.Errorf("%d locks during the apply, %d after it", held, s.locks(w))
	}
	s.lock(w, "sbx_user1051@169.254.0.1", strings.Replace(ofRun(n), "project . at", "project old at", 1))
	s.repo.Push("alice", "b", "More", githubtest.Files{"new/c.tf": resource("c", "1")})
	s.settle()
	s.expect("an apply", strings.Join(strings.Fields(s.say("alice", n, "lockstep apply -p new")), " "), "by a run of this pull request, of the project old.", `"lockstep unlock -p old" on pull request #1`)
	s.expect("the right unlock", s.say("alice", n, "lockstep unlock -p old"), "**Unlocked** `old`")
}

// TestLockOfADeadApply is the story of an apply whose process dies between the lock of the state and the apply record. Before
// its message comes again there is another head, or the pull request is closed: it is refused, and nobody else would release
// the lock.
func TestLockOfADeadApply(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(*stage, int){
		"pushed": func(s *stage, n int) { s.pushed(n, "b", githubtest.Files{"c.tf": resource("c", "1")}) },
		"closed": (*stage).closed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
			w := s.lockable()
			n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
			m, id := s.toApply("alice", n)
			revive := s.refuse(writes("effect/", "")) // no apply is begun
			if err := s.pipeline.Handle(t.Context(), m); err == nil {
				t.Fatal("it was begun")
			}
			revive()
			s.lock(w, "sbx_user1051@169.254.0.1", ofRun(n)) // as a death leaves it
			meanwhile(s, n)
			if err := s.pipeline.Handle(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			s.settle()
			s.expect("the apply", s.answerTo(n, id), "**Not applied** `.`")
			if got := s.locks(w); got != 0 {
				t.Errorf("%d locks", got)
			}
		})
	}
}

// TestLockOfADeadApplyOfAQueue is the same for an apply on merge that another App has asked for, by putting the pull request
// into the merge queue: GitHub shows no permission of it. The apply is given up.
func TestLockOfADeadApplyOfAQueue(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1"), "lockstep.hcl": "project \".\" {\n  dir   = \".\"\n  apply = \"merge\"\n}\n"})
	w := s.lockable()
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.repo.Enqueue("deps[bot]", n)
	s.settle()
	if !s.repo.Land("lockstep") {
		t.Fatal("the queue has not merged it")
	}
	s.delivered()
	var m pipeline.Message
	s.drain(t.Context(), func(ctx context.Context, got pipeline.Message) error {
		if got.Kind == pipeline.ToApply {
			m = got
			return nil
		}
		return s.pipeline.Handle(ctx, got)
	})
	revive := s.refuse(writes("effect/", ""))
	if err := s.pipeline.Handle(t.Context(), m); err == nil {
		t.Fatal("it was begun")
	}
	revive()
	s.lock(w, "sbx_user1051@169.254.0.1", ofRun(n)) // as a death leaves it
	if err := s.pipeline.Abandon(t.Context(), m, "it was received too often"); err != nil {
		t.Fatal(err)
	}
	s.settle()
	if got := s.locks(w); got != 0 {
		t.Errorf("%d locks", got)
	}
}

// denied is a state whose locks cannot be looked at.
type denied struct{ statebackend.Backend }

func (d denied) Open(name string) (statebackend.Workspace, error) {
	w, err := d.Backend.Open(name)
	return deniedWorkspace{w}, err
}

type deniedWorkspace struct{ statebackend.Workspace }

func (deniedWorkspace) Locks(context.Context) ([]statebackend.HeldLock, error) {
	return nil, fmt.Errorf("read s3://states/net.tflock: %w", statebackend.ErrDenied)
}

// TestUnlockElsewhere holds that an unlock on another pull request than the one with the lock tells where it is lifted, also if
// whoever asks may not unlock.
func TestUnlockElsewhere(t *testing.T) {
	t.Parallel()
	s := newStage(t, requiring("unlock", "  by = [\"acme/sre\"]"))
	s.hub.SetTeam("acme", "sre", "dave")
	s.repo.Grant("dave", "write")
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.say("alice", n, "lockstep lock --reason \"it moves\"")
	m := s.pull("bob", "c", githubtest.Files{"net/c.tf": resource("c", "1")})
	const there = "Locked by #1: `alice` has locked the state"
	got := s.say("bob", m, "lockstep unlock")
	s.expect("by who may not", got, "**Not unlocked** `net`", "a request by `acme/sre`", there, "To release the lock, comment `lockstep unlock` on #1, or merge or close that pull request.")
	if strings.Contains(got, "again") {
		t.Errorf("repeating it would not help: %s", got)
	}
	s.expect("by who may", s.say("dave", m, "lockstep unlock"), "This pull request has **no lock** on", there)
	s.expect("on its pull request", s.say("bob", n, "lockstep unlock"), "Once the requirements are met, comment")
}

// TestUnlockDenied holds that a store which does not let us is told of at once.
func TestUnlockDenied(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.strict = true
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.pipeline.Engine = &executor.Engine{Version: "test", Backend: func(context.Context, jobs.Job, *workdir.Settings) (statebackend.Backend, diags.Diagnostics) {
		return denied{&statebackendtest.Fake{}}, nil
	}}
	s.expect("the answer", s.say("alice", n, "lockstep unlock"), "**Not unlocked** `.`", "Lockstep cannot reach the state: ", "access denied", "An operator of Lockstep")
}
