package dispatch_test

import (
	"context"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// beforehand is an engine with which something happens once it has the state locked, before it asks for its permission.
type beforehand struct {
	jobs.Engine
	happens func()
}

func (b beforehand) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	return b.Engine.Apply(ctx, j, plan, func(now jobs.BeforeApply) jobs.Permit {
		b.happens()
		return permit(now)
	})
}

// TestLockedMeanwhile carries out an attack on a lock: an apply of another pull request that was queued before it must not
// begin after it.
func TestLockedMeanwhile(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	mine := s.pull("alice", "a", githubtest.Files{"a.tf": resource("b", "1")})
	other := s.pull("alice", "b", githubtest.Files{"b.tf": resource("c", "1")})
	engine := s.pipeline.Engine
	s.pipeline.Engine = beforehand{engine, func() { s.command("alice", mine, `lockstep lock --reason "the database moves"`) }}
	s.expect("an apply that comes too late", s.say("alice", other, "lockstep apply"), "**Not applied** `.`", "Locked by #1: `alice` has locked the state", "`the database moves`")
	s.pipeline.Engine = engine
	s.expect("the status", s.status(other), "has locked the state", "`the database moves`")
	s.expect("the one that has it", s.say("alice", mine, "lockstep apply"), "**Applied** `.`")
}

// TestLockAfterDeaths has the process that lifts a lock die before others know: its repetition tells them.
func TestLockAfterDeaths(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	mine := s.pull("alice", "a", githubtest.Files{"a.tf": resource("b", "1")})
	other := s.pull("alice", "b", githubtest.Files{"b.tf": resource("c", "1")})
	s.say("alice", mine, `lockstep lock --reason "the database moves"`)
	s.expect("the status", s.status(other), "has locked the state")
	s.strict = false
	s.refuse(first(func(x memory.Effect) bool { // to tell others of the end of the lock
		return strings.HasPrefix(x.Call, "send ") && strings.Contains(x.Call, "-lifted-")
	}))
	s.expect("the unlock", s.say("alice", mine, "lockstep unlock"), "**Unlocked** `.` for other pull requests. `alice` had locked it: `the database moves`.")
	if text := s.status(other); strings.Contains(text, "blocked") {
		t.Errorf("nobody told the other pull request:\n%s", text)
	}
}

// TestLockSet holds that the projects of a command are locked together, or none of them, also where another pull request
// is quicker with one of them; and that locks from before stay as they were.
func TestLockSet(t *testing.T) {
	t.Parallel()
	s := newStage(t, twoProjects)
	one := s.pull("alice", "a", githubtest.Files{"app/a.tf": resource("a", "1"), "db/a.tf": resource("a", "1")})
	two := s.pull("bob", "b", githubtest.Files{"app/b.tf": resource("b", "1"), "db/b.tf": resource("b", "1")})
	locked := func(name string) string {
		t.Helper()
		r := runs.Run{ID: runs.ID{Pull: s.ref(one), Project: name, Workspace: "default"}}
		v, err := s.pipeline.Ledger().Reservation(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if v == nil || v.Lifted {
			return ""
		}
		return v.Reason
	}
	s.expect("a lock of one", s.say("alice", one, `lockstep lock -p db --reason "it moves"`), "**Locked** `db`")
	answer := s.say("bob", two, `lockstep lock --reason "mine"`)
	s.expect("a lock of both", answer, "**Not locked** `app`", "Nothing was locked: `db` cannot be locked (this answer says why), and a command locks all its projects or none.", "**Not locked** `db`", "Locked by #1: `alice` has locked the state")
	if locked("app") != "" || locked("db") != "it moves" {
		t.Errorf("app is locked by %q, db by %q", locked("app"), locked("db"))
	}
	s.expect("one alone", s.say("bob", two, `lockstep lock -p app --reason "mine"`), "**Locked** `app`")
	s.expect("its end", s.say("bob", two, "lockstep unlock"), "**Unlocked** `app`")
	s.expect("the end of the other", s.say("alice", one, "lockstep unlock"), "**Unlocked** `db`")

	// Alice is quicker with db, between the two locks of bob.
	off := s.after(first(writes("lock/", "")), func() {
		r := runs.Run{ID: runs.ID{Pull: s.ref(one), Project: "db", Workspace: "default"}}
		if _, err := s.pipeline.Ledger().Reserve(t.Context(), r, runs.Reservation{Number: one, By: "alice", Reason: "quicker"}); err != nil {
			t.Error(err)
		}
	})
	s.expect("bob's lock", s.say("bob", two, `lockstep lock --reason "mine"`), "**Not locked** `app`", "`db` cannot be locked", "**Not locked** `db`", "`quicker`")
	off()
	if locked("app") != "" || locked("db") != "quicker" {
		t.Errorf("app is locked by %q, db by %q", locked("app"), locked("db"))
	}
}

// TestLockFromBefore holds that a lock which the pull request had before stays as it was, where a set cannot be locked as
// a whole.
func TestLockFromBefore(t *testing.T) {
	t.Parallel()
	base := githubtest.Files{"app/main.tf": resource("a", "1"), "db/main.tf": resource("a", "1"), "net/main.tf": resource("a", "1")}
	all := githubtest.Files{"app/b.tf": resource("b", "1"), "db/b.tf": resource("b", "1"), "net/b.tf": resource("b", "1")}
	s := newStage(t, base)
	one, two := s.pull("alice", "a", all), s.pull("bob", "b", all)
	of := func(number int, name string) runs.Run {
		return runs.Run{ID: runs.ID{Pull: s.ref(number), Project: name, Workspace: "default"}}
	}
	s.expect("bob's lock of app", s.say("bob", two, `lockstep lock -p app --reason "before"`), "**Locked** `app`")
	off := s.after(first(writes("lock/", "")), func() { // once bob has db
		if _, err := s.pipeline.Ledger().Reserve(t.Context(), of(one, "net"), runs.Reservation{Number: one, By: "alice", Reason: "quicker"}); err != nil {
			t.Error(err)
		}
	})
	s.expect("bob's lock of all", s.say("bob", two, `lockstep lock --reason "after"`), "**Not locked** `app`", "**Not locked** `net`", "`quicker`")
	off()
	for name, want := range map[string]string{"app": "before", "db": "", "net": "quicker"} {
		v, err := s.pipeline.Ledger().Reservation(t.Context(), of(two, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := v; want == "" && got != nil && !got.Lifted || want != "" && (got == nil || got.Lifted || got.Reason != want) {
			t.Errorf("%s is locked by %+v, want %q", name, got, want)
		}
	}
}

// TestUnlockDuringAnApply holds that the lock of a person is lifted while an apply is under way, which keeps its own.
func TestUnlockDuringAnApply(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	mine := s.pull("alice", "a", githubtest.Files{"a.tf": resource("b", "1")})
	other := s.pull("bob", "b", githubtest.Files{"b.tf": resource("c", "1")})
	s.say("alice", mine, `lockstep lock --reason "it moves"`)
	m, _ := s.toApply("alice", mine)
	s.expect("an unlock without a right", s.answerTo(mine, s.command("mallory", mine, "lockstep unlock")), "**Not unlocked**", "`read`")
	s.expect("the unlock", s.answerTo(mine, s.command("bob", mine, "lockstep unlock")), "**Unlocked** `.` for other pull requests. `alice` had locked it: `it moves`.", "The apply that `alice` requested continues, and releases its own lock when it ends.")
	s.expect("the lock of the apply", s.answerTo(mine, s.command("bob", mine, "lockstep unlock")), "**Not unlocked** `.`", "An apply that `alice` requested is in progress.")
	if err := s.pipeline.Handle(t.Context(), m); err != nil {
		t.Error(err)
	}
	s.settle()
	s.expect("the status", s.status(mine), "applied by")
	s.without("the lock", s.status(mine), "has locked")
	s.without("that of the other one", s.status(other), "has locked")
	s.say("alice", mine, "lockstep plan")
	s.expect("all in one comment", s.say("bob", other, "lockstep lock --reason x\nlockstep unlock"), "**Locked** `.`", "**Unlocked** `.` for other pull requests")
}
