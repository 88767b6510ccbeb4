package dispatch_test

import (
	"context"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// unsure is an engine whose plans leave out an object of which nobody knows whether it exists.
type unsure struct{ jobs.Engine }

func (u unsure) Plan(ctx context.Context, j jobs.Job) (jobs.PlanResult, error) {
	r, err := u.Engine.Plan(ctx, j)
	r.Doubts = []string{"lab_thing.a"}
	return r, err
}

// TestPlanWithDoubts holds that a plan that leaves out what nobody knows is none of all that the pull request changes: it passes no
// check, is not merged by itself, and its merge is told as one that is not applied.
func TestPlanWithDoubts(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject + "automerge {\n}\n"})
	s.hub.Accepts("contents", "write")
	s.strict = true
	engine := s.pipeline.Engine
	s.pipeline.Engine = unsure{engine}
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.headIs("planned", "b", "neutral 1 project ready to apply")
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added")
	const waits = "unknown whether `lab_thing.a` exists, see `lockstep recover`"
	s.headIs("applied", "b", "action_required 1 project partly applied")
	s.expect("applied", s.status(n), waits)
	s.say("alice", n, "lockstep plan")
	s.headIs("planned again", "b", "action_required 1 project partly planned")
	s.expect("planned again", s.status(n), waits)
	s.lacks("planned again", s.status(n), "comment the command in the table")
	if s.merged(n) {
		t.Error("it is merged by itself")
	}
	s.pipeline.Engine = engine
	s.expect("settled", s.say("alice", n, "lockstep plan"), "**Planned** `net`: no changes.")
	s.headIs("settled", "b", "success")
	if !s.merged(n) {
		t.Error("it is not merged by itself once that is settled")
	}

	s.pipeline.Engine = unsure{engine}
	m := s.pull("alice", "c", githubtest.Files{"net/c.tf": resource("c", "1")})
	s.say("alice", m, "lockstep apply")
	s.say("alice", m, "lockstep plan")
	s.repo.Merge("alice", m)
	s.settle()
	s.headIs("merged", "c", "action_required 1 project merged, not applied")
	s.expect("merged", s.status(m), "**merged, not applied**", "`lockstep retry`")
}
