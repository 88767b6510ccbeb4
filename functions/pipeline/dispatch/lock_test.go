package dispatch_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// beforehand is an engine with which something happens once it has the state locked, before it asks for its permission.
type beforehand struct {
	jobs.Engine
	happens func()
}

func (b beforehand) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.Present) jobs.Permit) (jobs.Outcome, error) {
	return b.Engine.Apply(ctx, j, plan, func(now jobs.Present) jobs.Permit {
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
	s.expect("an apply that comes too late", s.say("alice", other, "lockstep apply"), "**Not applied** `.`", "`alice` has locked the state for #1", "`the database moves`")
	s.pipeline.Engine = engine
	s.expect("the status", s.status(other), "cannot be applied now", "`the database moves`")
	s.expect("the one that has it", s.say("alice", mine, "lockstep apply"), "**Applied** `.`")
}

// deaf is a queue that once does not take what tells others of the end of a lock.
type deaf struct {
	pipeline.Queue
	failed bool
}

func (d *deaf) Send(ctx context.Context, m pipeline.Message) error {
	if !d.failed && strings.Contains(m.ID, "-lifted-") {
		d.failed = true
		return errors.New("the queue is down")
	}
	return d.Queue.Send(ctx, m)
}

// TestLockAfterDeaths has the process that lifts a lock die before others know: its repetition tells them.
func TestLockAfterDeaths(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	mine := s.pull("alice", "a", githubtest.Files{"a.tf": resource("b", "1")})
	other := s.pull("alice", "b", githubtest.Files{"b.tf": resource("c", "1")})
	s.say("alice", mine, `lockstep lock --reason "the database moves"`)
	s.expect("the status", s.status(other), "cannot be applied now")
	queue := s.pipeline.Queue
	s.pipeline.Queue, s.strict = &deaf{Queue: queue}, false
	s.expect("the unlock", s.say("alice", mine, "lockstep unlock"), "**Unlocked** `.` for other pull requests: `alice` had locked it (`the database moves`).")
	if text := s.status(other); strings.Contains(text, "cannot be applied now") {
		t.Errorf("nobody told the other pull request:\n%s", text)
	}
}
