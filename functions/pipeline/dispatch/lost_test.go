package dispatch_test

import (
	"context"
	"errors"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// lockingDead is an engine whose applies lock the state, and whose process is killed then.
type lockingDead struct {
	jobs.Engine
	lock func()
}

func (d lockingDead) Apply(_ context.Context, j jobs.Job, _ []byte, permit func(jobs.Present) jobs.Permit) (jobs.Outcome, error) {
	if !j.Continues {
		permit(jobs.Present{State: j.Planned})
		d.lock()
	}
	return jobs.Outcome{}, errors.New("the process was killed")
}

// TestLockOfALostApply holds that people are told how the lock of an apply is released that nobody knows the end of, and that
// the next apply is possible then.
func TestLockOfALostApply(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	w := s.lockable()
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	m, id := s.toApply("alice", n)
	alive := s.pipeline.Engine
	s.pipeline.Engine = lockingDead{alive, func() { s.lock(w, "sbx_user1051@169.254.0.1", ofRun(n)) }}
	for deaths := 0; s.killed(m) != nil; deaths++ {
		if deaths > 10 {
			t.Fatal("it is not given up")
		}
	}
	s.pipeline.Engine = alive
	s.settle()
	const unlock = "comment `lockstep unlock -p .`"
	s.expect("the answer", s.answerTo(n, id), "**The apply of `.` failed**: it did not finish.", unlock)
	s.expect("a recovery", s.say("alice", n, "lockstep recover"), "**Not recovered** `.`", "lockstep unlock -p .")
	if got := s.locks(w); got != 1 {
		t.Fatalf("%d locks", got)
	}
	s.expect("the command", s.say("alice", n, "lockstep unlock -p ."), "**Unlocked** `.`")
	if got := s.locks(w); got != 0 {
		t.Fatalf("%d locks", got)
	}
	s.expect("a recovery", s.say("alice", n, "lockstep recover"), "The state of `.` is **complete**")
	s.expect("a plan", s.say("alice", n, "lockstep plan"), "**Planned** `.`: 2 to add")
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Applied** `.`: 2 added")
}
