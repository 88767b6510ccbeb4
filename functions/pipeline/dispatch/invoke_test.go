package dispatch_test

import (
	"context"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// invoking is an engine that has one action. The engine of these tests has no provider with one: a plan with -invoke is one that only
// refreshes, as the real one is, and counts the action.
type invoking struct {
	jobs.Engine
	action  string
	invoked int
}

func (e *invoking) Plan(ctx context.Context, j jobs.Job) (jobs.PlanResult, error) {
	if j.Options.Invoke != e.action {
		return e.Engine.Plan(ctx, j)
	}
	j.Options = grammar.Options{RefreshOnly: true}
	res, err := e.Engine.Plan(ctx, j)
	res.Applyable, res.Counts, res.Report = true, counting.Counts{Invoke: 1}, "An action to invoke.\n"
	return res, err
}

func (e *invoking) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	if j.Options.Invoke != e.action {
		return e.Engine.Apply(ctx, j, plan, permit)
	}
	j.Options = grammar.Options{RefreshOnly: true}
	o, err := e.Engine.Apply(ctx, j, plan, permit)
	if !o.Failed && err == nil {
		e.invoked++
		o.Counts.Invoke = 1
	}
	return o, err
}

const action = `action.lab_notify.a["k"]`

func newInvoking(s *stage) *invoking {
	e := &invoking{Engine: s.pipeline.Engine, action: action}
	s.pipeline.Engine = e
	return e
}

// TestInvoke holds that a comment can plan to invoke an action, by its command and by the option of plan, that the apply is one more
// word, and that an applied head stays applied.
func TestInvoke(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject})
	e := newInvoking(s)
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("the changes", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added")
	for i, c := range []string{"lockstep invoke " + action, "lockstep plan -p net -invoke='" + action + "'"} {
		s.expect(c, s.say("alice", n, c), "**Planned** `net`: 0 to add, 0 to change, 0 to destroy, 1 action to invoke")
		s.expect("the status", s.status(n), "ready to apply", "Planned with `-invoke="+action+"`. It invokes the action, and changes no object.")
		if e.invoked != i {
			t.Fatalf("%d invocations before the apply", e.invoked)
		}
		s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 0 added, 0 changed, 0 destroyed, 1 action invoked")
		if e.invoked != i+1 {
			t.Fatalf("%d invocations after the apply", e.invoked)
		}
		s.headIs(c, "b", "success 1 project applied")
	}
	s.expect("an action that is not there", s.say("alice", n, "lockstep invoke action.lab_notify.b"), "**Failed to plan** `net`.", "invoke target action.lab_notify.b not found")
	before := len(s.repo.Comments(n))
	s.repo.Merge("bob", n)
	s.settle()
	if got := s.repo.Comments(n)[before:]; len(got) > 0 {
		t.Errorf("it was applied, and the merge says:\n%s", got[0].Body)
	}
}

// TestInvokeLeavesOut holds that a plan that invokes an action leaves out what an unapplied head changes: after its apply, the check
// demands a plan of that, and no merge applies the plan.
func TestInvokeLeavesOut(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject})
	e := newInvoking(s)
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.say("alice", n, "lockstep invoke "+action)
	s.expect("the status", s.status(n), "**This plan leaves out what the pull request changes.**")
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "1 action invoked")
	s.headIs("after it", "b", "action_required 1 project partly applied")
	s.expect("the rest", s.say("alice", n, "lockstep plan"), "**Planned** `net`: 2 to add")

	s.repo.Push("bob", "main", "On merge", githubtest.Files{"lockstep.hcl": netProject[:len(netProject)-2] + "  apply = \"merge\"\n}\n"})
	s.settle()
	n = s.pull("alice", "c", githubtest.Files{"net/c.tf": resource("c", "1")})
	s.say("alice", n, "lockstep invoke "+action)
	s.headIs("on merge", "c", "action_required 1 project partly planned")
	s.repo.Merge("bob", n)
	s.settle()
	if e.invoked != 1 {
		t.Errorf("the merge has invoked the action: %d invocations", e.invoked)
	}
}

// TestInvokeShownFirst holds that no comment requests an invocation and its apply together, and that one is for one project.
func TestInvokeShownFirst(t *testing.T) {
	t.Parallel()
	s := newStage(t, unseen(githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1")}))
	e := newInvoking(s)
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")})
	s.expect("of two", s.say("alice", n, "lockstep plan -invoke='"+action+"'"), "needs one project, but matches 2", "add `-p NAME`")
	s.expect("together", s.say("alice", n, "lockstep plan -p net -invoke='"+action+"'\nlockstep apply -p net"), "**Not applied** `net`", "and its apply together, so nobody has seen the plan.")
	if e.invoked != 0 {
		t.Errorf("%d invocations", e.invoked)
	}
}
