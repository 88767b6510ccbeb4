package dispatch_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// unknowing is an engine that cannot plan a project until something is known. It counts those plans.
type unknowing struct {
	jobs.Engine
	project string
	known   bool
	plans   int
}

func (e *unknowing) Plan(ctx context.Context, j jobs.Job) (jobs.PlanResult, error) {
	if j.Project != e.project {
		return e.Engine.Plan(ctx, j)
	}
	if e.plans++; !e.known {
		return jobs.PlanResult{Report: "Error: Invalid count argument: the value depends on attributes that cannot be determined until apply."}, nil
	}
	return e.Engine.Plan(ctx, j)
}

// TestFailedPlanAgain holds that a plan which has failed is made again by itself, once, when something has moved that it may have
// failed for: the values that it lacks are known once what it depends on is applied.
func TestFailedPlanAgain(t *testing.T) {
	t.Parallel()
	net, app := githubtest.Files{"net/b.tf": resource("b", "1")}, githubtest.Files{"app/b.tf": resource("b", "1")}
	both := githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")}
	for name, c := range map[string]struct {
		project string // whose plan fails
		do      func(s *stage, e *unknowing, known bool) (n int)
		want    int // plans
	}{
		"of a dependent, once the other is applied": {"app", func(s *stage, e *unknowing, known bool) int {
			n := s.pull("alice", "b", both)
			e.known = known
			s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
			return n
		}, 2},
		"of a dependent, once the other is planned, and again once it is applied": {"app", func(s *stage, e *unknowing, known bool) int {
			lacking := &unknowing{Engine: e, project: "net"}
			s.pipeline.Engine = lacking
			n := s.pull("alice", "b", both)
			lacking.known = true
			s.expect("the plan", s.say("alice", n, "lockstep plan -p net"), "**Planned** `net`")
			if e.plans != 2 {
				t.Errorf("%d plans once the other is planned", e.plans)
			}
			e.known = known
			s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
			return n
		}, 3},
		"of a dependent, once the other is applied elsewhere": {"app", func(s *stage, e *unknowing, known bool) int {
			n := s.pull("alice", "b", app)
			other := s.pull("bob", "c", net)
			e.known = known
			s.expect("the apply", s.say("bob", other, "lockstep apply"), "**Applied** `net`")
			if e.plans != 1 {
				t.Errorf("%d plans before the merge", e.plans)
			}
			s.repo.Merge("bob", other)
			s.settle()
			return n
		}, 2},
		"once its own state was written": {"net", func(s *stage, e *unknowing, known bool) int {
			n := s.pull("alice", "b", net)
			e.known = true
			other := s.pull("bob", "c", githubtest.Files{"net/c.tf": resource("c", "1")})
			s.expect("the apply", s.say("bob", other, "lockstep apply"), "**Applied** `net`")
			e.known, e.plans = known, 1
			s.repo.Merge("bob", other)
			s.settle()
			return n
		}, 2},
	} {
		for _, known := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": appLast})
				e := &unknowing{Engine: s.pipeline.Engine, project: c.project}
				s.pipeline.Engine = e
				n := c.do(s, e, known)
				want := map[bool]runs.Phase{true: runs.Planned, false: runs.PlanFailed}[known]
				if r := s.of(n, c.project); r.Phase != want || e.plans != c.want {
					t.Errorf("%s after %d plans, want %s after %d", r.Phase, e.plans, want, c.want)
				}
				s.say("alice", n, "lockstep help")
				if e.plans != c.want {
					t.Errorf("%d plans without an occasion", e.plans-c.want)
				}
				if known {
					s.expect("the apply", s.say("alice", n, "lockstep apply -p "+c.project), "**Applied** `"+c.project+"`")
				}
			})
		}
	}
}

// TestStoppedPlanRests holds that a plan which a person has stopped is not made again by itself.
func TestStoppedPlanRests(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.pipeline.Poll = time.Millisecond
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	engine := s.pipeline.Engine
	s.pipeline.Engine = endless{engine, func() { s.command("bob", n, "lockstep stop") }}
	s.say("alice", n, "lockstep plan")
	s.pipeline.Engine = engine
	stopped := s.run(n)
	s.overtake("other")
	if r := s.run(n); r.Phase != runs.PlanFailed || r.Asked.Attempt != stopped.Asked.Attempt {
		t.Errorf("%s, plan %d, want %s, plan %d", r.Phase, r.Asked.Attempt, runs.PlanFailed, stopped.Asked.Attempt)
	}
}
