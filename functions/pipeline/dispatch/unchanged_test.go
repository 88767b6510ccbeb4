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

func (v vain) Apply(ctx context.Context, j jobs.Job, _ []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	if permit(jobs.BeforeApply{State: j.Planned}) != jobs.Permitted {
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

// TestPlanOfOutputs holds that a plan that changes outputs alone, or addresses in the state, does not say that it changes nothing,
// wherever it waits to be applied.
func TestPlanOfOutputs(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	first := s.pull("alice", "a", githubtest.Files{"o.tf": "output \"o\" {\n  value = 1\n}\n"})
	s.say("alice", first, "lockstep apply")
	s.repo.Merge("alice", first)
	s.settle()
	n := s.pull("alice", "b", githubtest.Files{"o.tf": "output \"o\" {\n  value = 2\n}\n"})
	const none = "no changes to objects"
	read := func(when string) {
		t.Helper()
		s.expect(when, s.status(n), "(`"+s.repo.Head("b")[:7]+"`)\n", "ready to apply – "+none, "| `.` | "+none, "ready to apply")
		s.expect(when, s.check("b"), "1 project ready to apply – "+none+"\n", "lockstep/.: success Ready to apply – "+none)
	}
	read("the plan of an output")
	s.expect("asked for", s.say("alice", n, "lockstep plan"), "**Planned** `.`: "+none+".")
	s.repo.Push("alice", "b", "An address", githubtest.Files{"o.tf": "output \"o\" {\n  value = 1\n}\n", "main.tf": resource("z", "1")})
	s.settle()
	s.expect("a move", s.say("alice", n, "lockstep state mv terraform_data.a terraform_data.z"), "**Planned** `.`: "+none+".")
	read("the plan of a move")
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Applied** `.`")
	s.expect("nothing is left", s.say("alice", n, "lockstep plan"), "**Planned** `.`: no changes.")
	s.expect("nothing is left", s.status(n), "up to date (`"+s.repo.Head("b")[:7]+"`)\n", "| up to date | `.` | no changes |")
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
			s.expect("the apply", answer, "as `bob` requested")
		} else {
			s.expect("the apply", answer, "**Failed to apply** `.`: 0 added, 0 changed, 0 destroyed before the failure. The state contains these changes.")
		}
		s.expect("the other one", s.say("bob", other, "lockstep apply"), "**Applied** `.`: 2 added")
	}
}
