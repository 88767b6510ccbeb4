package dispatch_test

import (
	"context"
	"errors"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// lockingDead is an engine whose applies lock the state, and whose process is killed then.
type lockingDead struct {
	jobs.Engine
	lock func()
}

func (d lockingDead) Apply(_ context.Context, j jobs.Job, _ []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	if !j.Continues {
		permit(jobs.BeforeApply{State: j.Planned})
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
	s.expect("the answer", s.answerTo(n, id), "**Failed to apply** `.`: the apply ended without a result, so Lockstep does not know what was changed.", unlock)
	s.expect("a recovery", s.say("alice", n, "lockstep recover"), "**Not recovered** `.`", "lockstep unlock -p .")
	if got := s.locks(w); got != 1 {
		t.Fatalf("%d locks", got)
	}
	s.expect("the command", s.say("alice", n, "lockstep unlock -p ."), "**Unlocked** `.`")
	if got := s.locks(w); got != 0 {
		t.Fatalf("%d locks", got)
	}
	s.expect("a recovery", s.say("alice", n, "lockstep recover"), "`.`: **nothing to recover**")
	s.expect("a plan", s.say("alice", n, "lockstep plan"), "**Planned** `.`: 2 to add")
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Applied** `.`: 2 added")
}

// TestMissedAndRefused holds that a plan whose message came while the pull request was closed does not wait for ever, if nothing of the
// pull request is planned any more once it is open again; and that it is made where that is over.
func TestMissedAndRefused(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.repo.Push("alice", "release", "Cut", githubtest.Files{"README.md": "release"})
	s.repo.Push("alice", "b", "B", githubtest.Files{"b.tf": resource("b", "1")})
	n := s.repo.OpenPull("alice", "B", "b")
	s.hub.Deliver(t.Context())
	s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
		if m.Kind == pipeline.ToPlan {
			s.repo.Close("alice", n)
			s.hub.LoseDeliveries(20) // the webhook is late, and the next one is here before
			s.hub.Deliver(ctx)
			s.hub.LoseDeliveries(0)
		}
		return s.pipeline.Handle(ctx, m)
	})
	if r := s.run(n); !r.Asked.Missed {
		t.Fatalf("the message was not missed: %+v", r)
	}
	s.repo.Reopen("alice", n)
	s.repo.Retarget("alice", n, "release")
	s.settle()
	s.headIs("into another branch", "b", "action_required Nothing is planned")
	if r := s.run(n); r.Phase != runs.Dropped {
		t.Errorf("the plan is %s", r.Phase)
	}
	s.repo.Retarget("alice", n, "main")
	s.settle()
	s.expect("into the former one", s.status(n), "ready to apply", "2 to add")
}
