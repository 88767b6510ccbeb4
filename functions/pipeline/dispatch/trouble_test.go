package dispatch_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestStaleState holds that a plan is not applied to another state than it was made from, though all
// files are the same: where it would do something else there, the new plan waits for an apply of
// its own.
func TestStaleState(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("vpc", "1")})
	one := s.pull("alice", "subnet", githubtest.Files{"subnet.tf": resource("subnet", "1")})
	two := s.pull("bob", "peering", githubtest.Files{"peering.tf": resource("peering", "1")})
	s.say("alice", one, "lockstep apply")
	s.expect("an apply before the merge", s.say("bob", two, "lockstep apply"), "#1 was applied to the same state and is not merged yet")
	s.repo.Close("alice", one)
	s.settle()
	s.expect("what is left behind", s.answer(one, "close"), "**Applied, not merged**", "`alice` applied", "would undo them")
	// The plan would undo what is left behind.
	s.expect("the status", s.status(two), "1 to add, 0 to change, 1 to destroy", "to confirm with `lockstep apply "+s.hash(two), "# terraform_data.subnet\n+ action: delete", "# terraform_data.vpc\n- action: create",
		"the state was created")
	s.expect("the check", s.check("peering"), "action_required 1 project has a new plan – 1 to add, 0 to change, 1 to destroy")
	s.expect("an apply of the plan before", s.say("bob", two, "lockstep apply"), "**Not applied** `.`", "Nobody has confirmed the new plan")
	s.expect("an apply of the new plan", s.say("bob", two, "lockstep apply "+s.hash(two)), "**Applied** `.`: 1 added, 0 changed, 1 destroyed.")
}

// TestRightsAreLostInBetween holds that who was allowed when they wrote, and is not when
// it would be done, gets nothing done.
func TestRightsAreLostInBetween(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	id := s.repo.Comment("alice", n, "lockstep apply")
	if _, err := s.hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
		if m.Kind == pipeline.ToApply {
			s.repo.Grant("alice", "read")
		}
		return s.pipeline.Handle(ctx, m)
	})
	s.expect("the answer", s.answerTo(n, id), "**Not applied** `.`", "`alice` has the permission `read`")
	s.expect("the status", s.status(n), "ready to apply")
	if got := made(t, s, "."); !strings.Contains(got, "no such file") {
		t.Errorf("the state has %s", got)
	}
	s.expect("somebody else", s.say("bob", n, "lockstep apply"), "**Applied** `.`: 2 added")
}

// TestOutOfTime holds that an apply whose time is over says what it has not begun, and
// that a new plan goes on from there.
func TestOutOfTime(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.pipeline.StopBefore = 2 * time.Hour
	id := s.repo.Comment("alice", n, "lockstep apply")
	if _, err := s.hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
	defer cancel()
	s.drain(ctx, s.pipeline.Handle)
	s.expect("the answer", s.answerTo(n, id), "**Failed to apply** `.`: 0 added, 0 changed, 0 destroyed before the failure. The state contains these changes.", "**Not started: 2 changes.** To plan the rest, comment `lockstep plan`.", "To plan the rest")
	s.expect("the status", s.status(n), "failed to apply", "2 changes not started")
	s.expect("the check", s.check("b"), "failure Failed to apply (nothing changed; 2 changes not started)")
	s.pipeline.StopBefore = 0
	s.say("alice", n, "lockstep plan")
	s.expect("the rest", s.say("alice", n, "lockstep apply"), "**Applied** `.`: 2 added")
}

// stubbornHub is a GitHub whose trial merges cannot be had.
type stubbornHub struct{ dispatch.GitHub }

func (stubbornHub) MergeResult(context.Context, int) (github.Merge, error) {
	return github.Merge{}, github.ErrNotYet
}

// TestAbandoned holds that what was tried too often has failed, and that people hear of
// it where they look.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	engine := &dying{Engine: s.pipeline.Engine, fail: true}
	s.pipeline.Engine = engine
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.expect("the status", s.status(n), "failed to plan", "**Lockstep failed internally**")
	s.expect("the check", s.check("b"), "failure Failed to plan")
	engine.fail = false
	s.say("alice", n, "lockstep plan")

	apply := s.pipeline.Engine
	s.pipeline.Engine = broken{apply}
	s.expect("an apply", s.say("alice", n, "lockstep apply"), "**Failed to apply** `.`. Nothing was changed. To try again, comment `lockstep apply`.", "**Lockstep failed internally**: 3 attempts failed or were interrupted.")
	s.expect("the check", s.check("b"), "success Ready to apply – 2 to add")
	s.pipeline.Engine = apply

	connect := s.pipeline.Connect
	s.pipeline.Connect = func(p pipeline.Pull) (dispatch.GitHub, error) {
		hub, err := connect(p)
		return stubbornHub{hub}, err
	}
	s.expect("a plan", s.say("alice", n, "lockstep plan"), "**Lockstep failed internally**: handle 84fe0846ef8e2883d02b0d11128bb9f0: GitHub has not made the trial merge yet.", "To try again, write the command in a new comment.")
	s.repo.Push("alice", "b", "More", githubtest.Files{"b.tf": resource("b", "2")})
	s.settle()
	s.expect("a push", s.answer(n, "push"), "**Lockstep failed internally**: handle 5637b615e86a609b815ac9e1951302f9: GitHub has not made the trial merge yet.")
}

// broken is an engine that cannot reach what it needs for an apply.
type broken struct{ jobs.Engine }

func (broken) Apply(context.Context, jobs.Job, []byte, func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	return jobs.Outcome{}, errors.New("the state cannot be reached")
}

// TestOneHeadTwoPulls holds that a check says the worst of the pull requests that have
// the same head, and says so on both.
func TestOneHeadTwoPulls(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1"), "lockstep.hcl": "allow {\n  branches = [\"rel*\"]\n}\n"})
	s.repo.Push("bob", "release", "An old base", githubtest.Files{"variables.tf": "variable \"size\" {\n}\n"})
	one := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.expect("the check alone", s.check("b"), "1/%2E@default lockstep/.: success Ready to apply – 2 to add")
	two := s.repo.OpenPull("alice", "Into the release", "b")
	s.repo.Retarget("alice", two, "release")
	s.settle()
	s.expect("the second plan", s.status(two), "failed to plan", "size")
	s.expect("the first plan", s.status(one), "2 to add")
	s.expect("the checks", s.check("b"), "1/%2E@default lockstep/.: failure Ready to apply – 2 to add, 0 to change, 0 to destroy (failure on #2)", "2/%2E@default lockstep/.: failure Failed to plan")
	s.repo.Close("alice", two)
	s.settle()
	s.expect("the checks", s.check("b"), "1/%2E@default lockstep/.: success Ready to apply – 2 to add, 0 to change, 0 to destroy\n", "2/%2E@default lockstep/.: cancelled Closed")
}

// TestApprovals holds that the status names who approved the head, and not who approved
// another.
func TestApprovals(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.repo.Review("bob", n, github.Approved, "fine")
	s.settle()
	s.expect("the status", s.status(n), "Approved at `"+s.repo.Head("b")[:7]+"` by `bob`.")
	s.repo.Push("alice", "b", "More", githubtest.Files{"b.tf": resource("b", "2")})
	s.settle()
	if strings.Contains(s.status(n), "Approved") {
		t.Errorf("an old approval counts:\n%s", s.status(n))
	}
}

// TestRerun holds that the button of a check run plans again.
func TestRerun(t *testing.T) {
	t.Parallel()
	s := newStage(t, twoProjects)
	n := s.pull("alice", "b", githubtest.Files{"app/b.tf": resource("b", "1"), "db/b.tf": resource("b", "1")})
	for _, c := range s.repo.Checks(s.repo.Head("b")) {
		if c.Name == "lockstep/app" {
			s.repo.Rerequest("alice", c.ID)
		}
	}
	before := len(s.hub.Lines())
	s.settle()
	again := strings.Join(s.hub.Lines()[before:], "\n")
	s.expect("what follows", again, "check lockstep/app on #1 by lockstep[bot]: success, Ready to apply – 2 to add")
	if strings.Contains(again, "lockstep/db") {
		t.Errorf("another project was planned:\n%s", again)
	}
	// Each time is an answer of its own, which is told when it is there.
	for _, name := range []string{"lockstep/app", "lockstep/db"} {
		s.repo.Rerequest("bob", s.checkOf("b", name).ID)
	}
	s.settle()
	answers := 0
	for _, c := range s.repo.Comments(n) {
		if strings.Contains(c.Body, "lockstep:answer rerun-") {
			answers++
			s.expect("an answer", c.Body, "**Planned** `", "to add")
			if strings.Count(c.Body, "Planned") != 1 {
				t.Errorf("an answer to more than was asked for:\n%s", c.Body)
			}
		}
	}
	if answers != 3 {
		t.Errorf("%d answers", answers)
	}
	// The button of the check of the whole head plans all.
	before = len(s.hub.Lines())
	s.repo.Rerequest("bob", s.checkOf("b", "lockstep").ID)
	s.settle()
	s.expect("what follows", strings.Join(s.hub.Lines()[before:], "\n"), "check lockstep/app on #1 by lockstep[bot]: success", "check lockstep/db on #1 by lockstep[bot]: success")
}

// TestClosedWhileApplying holds that an apply comes to its end when the pull request is
// closed meanwhile, and that what it leaves behind is spoken of.
func TestClosedWhileApplying(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	engine := s.pipeline.Engine
	s.pipeline.Engine = closing{engine, func() {
		s.repo.Close("bob", n)
		s.hub.LoseDeliveries(20) // the webhook is here already
		m := pipeline.Message{ID: "at-once", Kind: pipeline.Closed, Pull: s.ref(n), Action: "closed", Actor: "bob"}
		if err := s.pipeline.Handle(t.Context(), m); err != nil {
			t.Error(err)
		}
	}}
	s.expect("the answer", s.say("alice", n, "lockstep apply"), "**Applied** `.`: 2 added")
	s.expect("what is left behind", s.answer(n, "close"), "**Applied, not merged**")
	s.pipeline.Engine = engine
	s.hub.LoseDeliveries(0)
	two := s.pull("bob", "c", githubtest.Files{"c.tf": resource("c", "1")})
	s.expect("others are free", s.say("bob", two, "lockstep apply"), "**Applied** `.`: 1 added, 0 changed, 1 destroyed")
}

// closing is an engine during whose applies something happens.
type closing struct {
	jobs.Engine
	meanwhile func()
}

func (c closing) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	o, err := c.Engine.Apply(ctx, j, plan, permit)
	c.meanwhile()
	return o, err
}
