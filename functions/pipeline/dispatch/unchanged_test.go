package dispatch_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// vain is an engine whose applies begin, and end without a change: by an error, or since they are stopped meanwhile.
type vain struct {
	jobs.Engine
	meanwhile func() // nil for an error
}

func (v vain) Apply(ctx context.Context, j jobs.Job, _ []byte, permit func(jobs.Present) jobs.Permit) (jobs.Outcome, error) {
	if permit(jobs.Present{State: j.Planned}) != jobs.Permitted {
		return jobs.Outcome{Refused: true}, nil
	}
	out := jobs.Outcome{Failed: true, State: j.Planned, Remaining: 2, Progress: comment.Progress{Of: 2}, Report: "nothing was done"}
	if v.meanwhile != nil {
		v.meanwhile()
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
		}
		out.Resumable = true
	}
	return out, nil
}

// TestApplyThatChangesNothing holds that an apply which has failed, or was stopped, before its first change is in the way of no
// other pull request: the other one could revert nothing of it.
func TestApplyThatChangesNothing(t *testing.T) {
	t.Parallel()
	for _, stopped := range []bool{false, true} {
		s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
		s.pipeline.Poll = time.Millisecond
		first := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
		other := s.pull("bob", "c", githubtest.Files{"c.tf": resource("c", "1")})
		engine := s.pipeline.Engine
		v := vain{Engine: engine}
		if stopped {
			v.meanwhile = func() { s.command("bob", first, "lockstep stop") }
		}
		s.pipeline.Engine = v
		answer := s.say("alice", first, "lockstep apply")
		if s.pipeline.Engine = engine; stopped {
			s.expect("the apply", answer, "as `bob` asked")
		} else {
			s.expect("the apply", answer, "**The apply of `.` failed**")
		}
		s.expect("the other one", s.say("bob", other, "lockstep apply"), "**Applied** `.`: 2 added")
	}
}
