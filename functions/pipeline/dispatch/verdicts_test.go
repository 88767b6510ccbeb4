package dispatch_test

import (
	"context"
	"slices"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// gated is an engine whose gates deny with a message, or allow all if there is none.
type gated struct {
	jobs.Engine
	denies *string
}

func (g gated) verdicts(c *runs.Content) *runs.Content {
	if c == nil {
		return nil
	}
	out := *c
	out.Verdicts = slices.Clone(c.Verdicts)
	for i := range out.Verdicts {
		out.Verdicts[i].Mistakes, out.Verdicts[i].Denied = nil, nil
		if *g.denies != "" {
			out.Verdicts[i].Denied = []string{*g.denies}
		}
	}
	return &out
}

func (g gated) Plan(ctx context.Context, j jobs.Job) (jobs.PlanResult, error) {
	res, err := g.Engine.Plan(ctx, j)
	res.Content = g.verdicts(res.Content)
	return res, err
}

func (g gated) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	return g.Engine.Apply(ctx, j, plan, func(now jobs.BeforeApply) jobs.Permit {
		now.Content = g.verdicts(now.Content)
		return permit(now)
	})
}

// TestDeniedAtTheApply holds that the latest verdict of a gate is shown wherever a plan is: that of an apply which it has denied,
// though it allowed the plan. The next apply asks it again.
func TestDeniedAtTheApply(t *testing.T) {
	t.Parallel()
	const arn = "arn:aws:lambda:us-east-1:111122223333:function:lockstep-call-cost"
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\ngate \"cost\" {\n  function = \"" + arn + "\"\n  override = [\"alice\"]\n}\n"})
	denies := ""
	s.pipeline.Engine = gated{s.pipeline.Engine, &denies}
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	places := func(when string, has, lacks string) {
		t.Helper()
		for name, text := range map[string]string{"the status": s.status(n), "the check": s.checkOf("b", "lockstep/net").Summary, "the required check": s.checkOf("b", "lockstep").Summary, "the page": s.onPage(n)} {
			if name != "the required check" || has[0] == '*' { // it tells of missing requirements alone
				s.expect(when+", "+name, text, has)
			}
			s.without(when+", "+name, text, lacks)
		}
	}
	const allows, missing = "met: a plan that the gate `cost` allows", "**denied** by gate `cost`: `the budget is spent`"
	places("allowed", allows, "missing")
	denies = "the budget is spent"
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", missing)
	places("denied", missing, "met: ")
	if c := s.checkOf("b", "lockstep/net"); c.Conclusion != github.ConcludedFailure {
		t.Errorf("the check is %s", c.Conclusion)
	}
	s.headIs("denied", "b", "failure 1 project denied – 2 to add, 0 to change, 0 to destroy")
	s.say("alice", n, "lockstep plan")
	places("denied with the plan", missing, "met: ")
	denies = ""
	s.say("alice", n, "lockstep plan")
	places("allowed again", allows, "missing")
	denies = "the budget is spent"
	s.say("alice", n, "lockstep apply")
	s.expect("an override", s.say("alice", n, "lockstep override --reason \"known\""), "**Requirements overridden**")
	denies = ""
	s.expect("the next apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
}

// TestWhatAnOverrideLeaves is a table of obstacles beside a requirement that somebody lifts, and of the words of the answer: it
// names those, and invites to no apply that they hold.
func TestWhatAnOverrideLeaves(t *testing.T) {
	t.Parallel()
	const block = "require \"apply\" {\n  approvals = 1\n  override = [\"zoe\"]\n}\n"
	for name, test := range map[string]struct {
		settings string
		before   func(s *stage, n int)
		has      []string
		lacks    string
	}{
		"nothing": {"", func(*stage, int) {}, []string{"To apply it, comment `lockstep apply -p net`."}, "missing"},
		"a lock": {"", func(s *stage, _ int) {
			m := s.pull("bob", "other", githubtest.Files{"net/c.tf": resource("c", "1")})
			s.say("bob", m, "lockstep lock --reason \"it moves\"")
		}, []string{"Locked by #2: `bob` has locked the state", "comment `lockstep unlock` on #2. Then comment `lockstep apply -p net`"}, "to apply it."},
		"another requirement": {"require \"apply\" {\n  labels = [\"ready\"]\n}\n", func(*stage, int) {},
			[]string{"Still required:\n\n- **not met**: the requirement at `lockstep.hcl:8`\n  - **not met**: these labels: `ready`", "to apply this plan, comment `lockstep apply -p net`"}, "lifted"},
		"an apply by the merge": {"merge", func(*stage, int) {}, []string{"To apply this plan, merge the pull request."}, "lockstep apply"},
		"the order":             {"order", func(*stage, int) {}, []string{"This project is applied after `app`, which it depends on. Comment `lockstep apply` on the pull request to apply both in that order."}, "to apply it."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			project, settings := "project \"net\" {\n  dir = \"net\"\n}\n", test.settings
			files := githubtest.Files{"net/main.tf": resource("a", "1")}
			switch test.settings {
			case "merge":
				project, settings = "project \"net\" {\n  dir = \"net\"\n  apply = \"merge\"\n}\n", ""
			case "order":
				project, settings = "project \"net\" {\n  dir = \"net\"\n  depends_on = [\"app\"]\n}\nproject \"app\" {\n  dir = \"app\"\n}\n", ""
				files["app/main.tf"] = resource("a", "1")
			}
			files["lockstep.hcl"] = project + block + settings
			s := newStage(t, files)
			s.repo.Grant("zoe", "write")
			change := githubtest.Files{"net/b.tf": resource("b", "1")}
			if test.settings == "order" {
				change["app/b.tf"] = resource("b", "1")
			}
			n := s.pull("alice", "b", change)
			test.before(s, n)
			got := s.say("zoe", n, "lockstep override -p net --reason \"it burns\"")
			s.expect("the answer", got, append(test.has, "**Requirements overridden** for the plan of `net` by `zoe`: `it burns`.", "The override is for this plan only")...)
			s.without("the answer", got, test.lacks)
		})
	}
}
