package dispatch_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// outside is an engine that finds drift in projects with looks. It makes all other plans as usual.
type outside struct {
	jobs.Engine
	drifted  map[string]bool
	report   string
	literals comment.Literals
}

func (e *outside) Plan(ctx context.Context, j jobs.Job) (jobs.PlanResult, error) {
	if j.Number != 0 {
		return e.Engine.Plan(ctx, j)
	}
	if !e.drifted[j.Project] {
		return jobs.PlanResult{Plan: []byte("a plan")}, nil
	}
	if n := len(j.IgnoredDrift); n > 0 && e.report == "" {
		return jobs.PlanResult{Plan: []byte("a plan"), DriftIgnored: n}, nil
	}
	return jobs.PlanResult{Plan: []byte("a plan"), Drifted: 1, DriftIgnored: len(j.IgnoredDrift), Report: "terraform_data.a has changed " + e.report, Literals: e.literals}, nil
}

// lookNumber counts looks, so that each message has an ID of its own.
var lookNumber atomic.Int64

// lookAt looks for drift in a project, as at its turn.
func (s *stage) lookAt(target string) {
	s.t.Helper()
	repo := s.ref(1)
	repo.Number = 0
	m := pipeline.Message{Kind: pipeline.ToDrift, Pull: repo, ID: fmt.Sprint("look-at-", lookNumber.Add(1)), Target: target}
	if err := s.pipeline.Queue.Send(s.t.Context(), m); err != nil {
		s.t.Fatal(err)
	}
	s.settle()
}

// driftIssue has drift found in net, whose changes on main are not applied. It returns the number of the issue.
func (s *stage) driftIssue() int {
	s.t.Helper()
	s.pipeline.Engine = &outside{Engine: s.pipeline.Engine, drifted: map[string]bool{"net": true}}
	s.lookAt("net@default")
	return s.repo.Issues()[0].Number
}

// TestDriftRevert is the story of drift that is undone from its issue. The apply has the project looked at again, and that
// closes the issue. The next drift gets another one.
func TestDriftRevert(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject + "\ndrift {}\n"})
	n := s.driftIssue()
	s.expect("the plan", s.say("alice", n, "lockstep drift revert"), "**Planned** `net`: 1 to add")
	s.expect("the status", s.status(n), "ready to apply", "terraform_data.a will be created", "To apply this plan, comment `lockstep apply`")
	if text := s.status(n); strings.Contains(text, "pull request") {
		t.Errorf("the status of an issue is about a pull request:\n%s", text)
	}
	s.expect("the project's check", s.check("main"), "lockstep/net: neutral Ready to apply")
	for _, c := range s.repo.Checks(s.repo.Head("main")) {
		if c.Name == "lockstep" {
			t.Errorf("the default branch has a check of a head: %+v", c)
		}
	}
	s.pipeline.Engine.(*outside).drifted["net"] = false
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 1 added")
	if x := s.repo.Issues(); len(x) != 1 || x[0].Open {
		t.Errorf("after the apply: %+v", x)
	}
	s.pipeline.Engine.(*outside).drifted["net"] = true
	s.lookAt("net@default")
	if x := s.repo.Issues(); len(x) != 2 || x[0].Open || !x[1].Open {
		t.Errorf("after the next drift: %+v", x)
	}
	s.expect("the old issue", s.say("alice", n, "lockstep drift revert"), "The issue is closed.", "Reopen it")
}

// TestDriftAccept holds that an accepted plan is one with -refresh-only, and that plan and retry repeat it.
func TestDriftAccept(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject + "\ndrift {}\n"})
	n := s.driftIssue()
	for _, command := range []string{"lockstep drift accept", "lockstep plan", "lockstep retry", "Lockstep drift accept."} {
		s.expect(command, s.say("alice", n, command), "**Planned** `net`: no changes")
		s.expect("the status", s.status(n), "no changes, with -refresh-only")
	}
	s.expect("the reverse", s.say("alice", n, "lockstep drift revert"), "**Planned** `net`: 1 to add")
	s.expect("a plan of it", s.say("alice", n, "lockstep plan"), "**Planned** `net`: 1 to add")
}

// TestCommandsOnIssues is a table of commands on the issue about net, by several people.
func TestCommandsOnIssues(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": netProject + "\ndrift {}\n"})
	n := s.driftIssue()
	s.repo.Grant("mallory", "read")
	for _, x := range []struct{ who, command, want string }{
		{"mallory", "lockstep drift revert", "has the permission `read`"},
		{"mallory", "lockstep drift accept", "has the permission `read`"},
		{"mallory", "lockstep apply", "has the permission `read`"},
		{"alice", "lockstep apply", "There is no plan to apply"},
		{"alice", "lockstep drift", "The issue takes few commands, and for `net` only"},
		{"alice", "lockstep plan -p app", "The issue takes few commands, and for `net` only"},
		{"alice", "lockstep apply -p app", "The issue takes few commands, and for `net` only"},
		{"alice", "lockstep plan -destroy", "The issue takes few commands, and for `net` only"},
		{"alice", "lockstep drift revert -p *p", "The issue takes few commands, and for `net` only"},
		{"alice", "lockstep state rm terraform_data.a", "The issue takes few commands, and for `net` only"},
		{"alice", "lockstep lock --reason \"x\"", "The issue takes few commands, and for `net` only"},
		{"alice", "lockstep override --reason \"x\"", "The issue takes few commands, and for `net` only"},
		{"alice", "lockstep query -p net -pull-request", "The issue takes few commands, and for `net` only"},
		{"mallory", "lockstep drift propose", "has the permission `read`"},
		{"alice", "lockstep drift propose -p app", "The issue takes few commands, and for `net` only"},
		{"alice", "lockstep drift revert -p net", "**Planned** `net`: 1 to add"},
		{"mallory", "lockstep apply", "has the permission `read`"},
		{"alice", "lockstep apply -p net", "**Applied** `net`: 1 added"},
	} {
		s.expect(x.who+": "+x.command, s.say(x.who, n, x.command), x.want)
	}
	s.expect("the help", s.say("alice", n, "lockstep help"), "lockstep drift accept")
	p := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("on a pull request", s.say("alice", p, "lockstep drift accept -p net"), "works only on the issues that Lockstep opens about drift", "comment `lockstep drift -p net`")
	s.expect("on a pull request", s.say("alice", p, "lockstep drift propose"), "works only on the issues that Lockstep opens about drift", "comment `lockstep drift`")
	s.expect("on a pull request", s.say("alice", p, "lockstep drift revert"), "works only on the issues that Lockstep opens about drift", "comment `lockstep plan`")
}

// TestCommandsOnOtherIssues holds that Lockstep does nothing about comments on issues that it has not opened itself, whatever
// their text is, and about its own issues that were deleted.
func TestCommandsOnOtherIssues(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject + "\ndrift {}\n"})
	n := s.driftIssue()
	body := s.repo.Issues()[0].Body
	theirs := s.repo.OpenIssue("mallory", "Drift in net", body)
	s.repo.Comment("alice", theirs, "lockstep drift revert")
	s.settle()
	if c := s.repo.Comments(theirs); len(c) != 1 || len(c[0].Reactions) != 0 {
		t.Errorf("comments on another's issue: %+v", c)
	}
	// Not even a message that intake would not send has an effect.
	m := pipeline.Message{ID: "forged", Kind: pipeline.Commanded, Pull: s.ref(theirs), Actor: "alice", Comment: s.repo.Comments(theirs)[0].ID, At: time.Now(), Lines: grammar.Parse("lockstep drift revert")}
	if err := s.pipeline.Queue.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	s.settle()
	if c := s.repo.Comments(theirs); len(c) != 1 || len(c[0].Reactions) != 0 {
		t.Errorf("comments on another's issue: %+v", c)
	}
	s.repo.EditIssue(n, "Somebody has taken the marker away.")
	s.expect("an edited issue", s.say("alice", n, "lockstep drift revert"), "**Planned** `net`")
	comments := len(s.repo.Comments(n))
	s.repo.DeleteIssue(n)
	s.repo.Comment("alice", n, "lockstep drift revert")
	s.settle()
	if c := s.repo.Comments(n); len(c) != comments+1 {
		t.Errorf("comments on a deleted issue: %+v", c)
	}
	s.lookAt("net@default") // the record says that there is an issue
	s.pipeline.Engine.(*outside).report = "another change"
	s.lookAt("net@default")
	s.lookAt("net@default")
	if all := s.repo.Issues(); !all[len(all)-1].Open || len(all) != 3 {
		t.Errorf("issues: %+v", all)
	}
}

// TestPlanOnIssueIsOutOfDate holds that a plan on an issue is not applied after somebody has closed the issue, after the
// default branch has moved, or if its author cannot have seen it.
func TestPlanOnIssueIsOutOfDate(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject + "\ndrift {}\n"})
	n := s.driftIssue()
	s.expect("in one comment", s.say("alice", n, "lockstep drift revert\nlockstep apply"), "**Not applied**")
	s.repo.CloseIssue(n)
	s.expect("an apply after the close", s.say("alice", n, "lockstep apply"), "The issue is closed.")
	s.expect("a plan after the close", s.say("alice", n, "lockstep drift accept"), "The issue is closed.")
	s.repo.ReopenIssue(n)
	s.repo.Push("bob", "main", "More", githubtest.Files{"net/c.tf": resource("c", "1")})
	s.settle()
	s.expect("an apply after a push", s.say("alice", n, "lockstep apply"), "**Not applied**", "The plan is for")
	s.expect("a new plan", s.say("alice", n, "lockstep retry"), "**Planned** `net`: 2 to add")
	id := s.repo.Comment("alice", n, "lockstep help")
	s.repo.EditComment("alice", id, "lockstep apply")
	s.settle()
	if got := s.status(n); strings.Contains(got, "applied by") {
		t.Errorf("an edited comment has applied:\n%s", got)
	}
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added")
}

// TestRequirementsOnIssues holds that conditions that need a pull request are not met on an issue, and that the answer says
// what to do. All others count as on a pull request.
func TestRequirementsOnIssues(t *testing.T) {
	t.Parallel()
	for condition, want := range map[string]string{
		"approvals   = 1":           "For a condition that needs them, open a pull request that touches the project",
		"codeowners  = true":        "an approval by a code owner",
		"mergeable   = true":        "an issue cannot be merged: open a pull request that touches the project, and apply there",
		"checks      = [\"ci\"]":    "`ci` is missing",
		"max_changes = 0":           "Requirements are not met",
		"labels      = [\"go\"]":    "`go` is missing",
		"by          = [\"carol\"]": "`alice` is not in",
		"up_to_date  = true":        "",
		"draft       = false":       "",
	} {
		t.Run(condition, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, githubtest.Files{".github/CODEOWNERS": "* @carol\n", "net/main.tf": resource("a", "1"), "lockstep.hcl": netProject + "\ndrift {}\n\nrequire \"apply\" {\n  " + condition + "\n}\n"})
			s.repo.Grant("carol", "write")
			n := s.driftIssue()
			s.say("alice", n, "lockstep drift revert")
			got := s.say("alice", n, "lockstep apply")
			if want == "" {
				s.expect("the apply", got, "**Applied** `net`")
				return
			}
			s.expect("the apply", got, "**Not applied**", want)
			s.expect("the status", s.status(n), "1 to add")
			if len(s.repo.Issues()) != 1 {
				t.Errorf("issues: %+v", s.repo.Issues())
			}
		})
	}
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject + "\ndrift {}\n\nrequire \"drift\" {\n  by = [\"carol\"]\n}\n"})
	n := s.driftIssue()
	s.expect("what requires for drift", s.say("alice", n, "lockstep drift accept"), "**Not planned**", "`alice` is not in")
	s.expect("the reverse", s.say("alice", n, "lockstep drift revert"), "**Planned** `net`")
}

// TestRevertKeepsUnmergedApplies holds that a plan on an issue is not applied if it would revert a pull request that was
// applied and is not merged.
func TestRevertKeepsUnmergedApplies(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject + "\ndrift {}\n"})
	p := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.say("alice", p, "lockstep apply")
	n := s.driftIssue()
	s.expect("the plan", s.say("alice", n, "lockstep drift revert"), "**Planned** `net`: 0 to add, 0 to change, 1 to destroy")
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Not applied**", fmt.Sprintf("#%d", p))
	s.repo.Merge("alice", p)
	s.settle()
	s.expect("a new plan", s.say("alice", n, "lockstep drift revert"), "**Planned** `net`: no changes")
}

// TestIgnoredDrift holds that drift that the default branch ignores opens no issue, that the issue about other drift counts it,
// and that a plan after an apply leaves out nothing.
func TestIgnoredDrift(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject + "\ndrift {\n  ignore = [\"terraform_data.a.input\", \"*.*.tags\"]\n}\n"})
	engine := &outside{Engine: s.pipeline.Engine, drifted: map[string]bool{"net": true}}
	s.pipeline.Engine = engine
	s.lookAt("net@default")
	if all := s.repo.Issues(); len(all) != 0 {
		t.Errorf("issues: %+v", all)
	}
	engine.report = "more"
	s.lookAt("net@default")
	s.expect("the issue", s.repo.Issues()[0].Body, "An object of `net` changed outside of Lockstep", "2 more changed objects are ignored by `ignore` in the drift block")
	engine.report = ""
	s.lookAt("net@default")
	if all := s.repo.Issues(); all[0].Open {
		t.Errorf("issues: %+v", all)
	}
}

// TestDriftIsTold holds that notifications report drift once, and once that it is over, also if the repository has issues
// disabled.
func TestDriftIsTold(t *testing.T) {
	t.Parallel()
	for _, without := range []bool{false, true} {
		s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject + `
drift {}

notify "drift" {
  on    = ["drift", "drift_over"]
  topic = "arn:aws:sns:eu-west-1:111122223333:lockstep-call-drift"
}

notify "applies" {
  on    = ["applied"]
  topic = "arn:aws:sns:eu-west-1:111122223333:lockstep-call-applies"
}
`})
		var told []string
		s.pipeline.Notify = func(_ context.Context, n jobs.Notice) error {
			for _, h := range n.Happened {
				told = append(told, fmt.Sprintf("%s %s %s %d %v", n.Notification.Name, h.Run.Project, h.Outcome, h.Drifted, strings.Contains(n.URL, "/issues/")))
			}
			return nil
		}
		s.repo.WithoutIssues(without)
		engine := &outside{Engine: s.pipeline.Engine, drifted: map[string]bool{"net": true}}
		s.pipeline.Engine = engine
		for _, drifted := range []bool{true, true, false, false, true} {
			engine.drifted["net"] = drifted
			s.lookAt("net@default")
			s.lookAt("net@default")
		}
		want := fmt.Sprintf("drift net drift 1 %v, drift net drift_over 0 %v, drift net drift 1 %v", !without, !without, !without)
		if got := strings.Join(told, ", "); got != want {
			t.Errorf("without issues %v: %q, want %q", without, got, want)
		}
	}
}

// TestIssueClosedByAPerson holds that an issue that somebody has closed stays closed while the drift is the same, and is opened
// again when it is another one.
func TestIssueClosedByAPerson(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject + "\ndrift {}\n"})
	n := s.driftIssue()
	s.repo.CloseIssue(n)
	s.lookAt("net@default")
	if all := s.repo.Issues(); len(all) != 1 || all[0].Open {
		t.Errorf("after the same drift: %+v", all)
	}
	s.pipeline.Engine.(*outside).report = "and more"
	s.lookAt("net@default")
	if all := s.repo.Issues(); len(all) != 1 || !all[0].Open {
		t.Errorf("after other drift: %+v", all)
	}
}

// TestDriftPropose is the story of present values that a pull request writes into the configuration, line by line.
func TestDriftPropose(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": "a = 1\r\nb = 2 # two\r\n", "net/more.tf": "c = 3", "lockstep.hcl": netProject + "\ndrift {}\n"})
	s.hub.Accepts("contents", "write")
	n := s.driftIssue()
	e := s.pipeline.Engine.(*outside)
	e.literals = comment.Literals{Lines: []comment.LiteralLine{
		{Path: "net/main.tf", Line: 1, Before: "a = 1", After: "a = 9"}, {Path: "net/main.tf", Line: 2, Before: "b = 2 # two", After: "b = 8 # two"}, {Path: "net/more.tf", Line: 1, Before: "c = 3", After: "c = 7"},
	}, Left: []string{"terraform_data.a.list: its expression is no literal"}}
	s.lookAt("net@default")
	if body := s.repo.Issues()[0].Body; !strings.Contains(body, "opens this pull request if you comment `lockstep drift propose`") {
		t.Errorf("the issue: %s", body)
	}
	s.expect("the answer", s.say("alice", n, "lockstep drift propose"), "Opened #1. It writes the present values of `net` into 3 lines of the configuration.", "comment `lockstep drift accept` here", "terraform_data.a.list: its expression is no literal")
	_, after := s.repo.Changes(1)
	if len(after) != 2 || after["net/main.tf"] != "a = 9\r\nb = 8 # two\r\n" || after["net/more.tf"] != "c = 7" {
		t.Errorf("the pull request changes %q", after)
	}
	p := s.repo.Pulls()[0]
	if p.Title != "Keep the present values of net" || !strings.Contains(p.Body, fmt.Sprintf("see #%d", n)) || !strings.Contains(p.Body, "`alice` asked for it") {
		t.Errorf("%+v", p)
	}
	s.expect("once more", s.say("alice", n, "lockstep drift propose"), "#1, from an earlier `lockstep drift propose`, is still open.")
	s.repo.Merge("alice", 1)
	s.settle()
	e.literals.Lines = nil
	s.expect("without lines", s.say("alice", n, "lockstep drift propose"), "Lockstep opens no pull request for `net`", "its expression is no literal")
	e.drifted["net"], e.literals = false, comment.Literals{}
	s.expect("without drift", s.say("alice", n, "lockstep drift propose"), "`net` has no drift")
	s.expect("on a closed issue", s.say("alice", n, "lockstep drift propose"), "The issue is closed.")
}

// TestDriftProposeLies holds that the process that reads the configuration can have no file changed but configuration of the project's
// directory, and no line but the one that it says.
func TestDriftProposeLies(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{
		"net/main.tf": "a = 1\n", "net/run.sh": "a = 1\n", "app/main.tf": "a = 1\n", "main.tf": "a = 1\n", ".github/workflows/ci.yml": "a = 1\n",
		"lockstep.hcl": netProject + "\ndrift {}\n",
	})
	s.hub.Accepts("contents", "write")
	n := s.driftIssue()
	for name, l := range map[string]comment.LiteralLine{
		"another project":   {Path: "app/main.tf", Line: 1, Before: "a = 1", After: "a = 2"},
		"another directory": {Path: "main.tf", Line: 1, Before: "a = 1", After: "a = 2"},
		"above":             {Path: "net/../main.tf", Line: 1, Before: "a = 1", After: "a = 2"},
		"a workflow":        {Path: ".github/workflows/ci.yml", Line: 1, Before: "a = 1", After: "a = 2"},
		"the settings":      {Path: "lockstep.hcl", Line: 1, Before: "project \"net\" {", After: "x"},
		"a program":         {Path: "net/run.sh", Line: 1, Before: "a = 1", After: "a = 2"},
		"no file":           {Path: "net/none.tf", Line: 1, Before: "a = 1", After: "a = 2"},
		"another line":      {Path: "net/main.tf", Line: 1, Before: "a = 3", After: "a = 2"},
		"behind the end":    {Path: "net/main.tf", Line: 9, Before: "a = 1", After: "a = 2"},
		"before the first":  {Path: "net/main.tf", Line: 0, Before: "a = 1", After: "a = 2"},
		"two lines":         {Path: "net/main.tf", Line: 1, Before: "a = 1", After: "a = 2\nresource \"x\" \"y\" {}"},
		"the same":          {Path: "net/main.tf", Line: 1, Before: "a = 1", After: "a = 1"},
	} {
		s.pipeline.Engine.(*outside).literals = comment.Literals{Lines: []comment.LiteralLine{l}}
		s.expect(name, s.say("alice", n, "lockstep drift propose"), "Lockstep opens no pull request for `net`")
	}
	if all := s.repo.Pulls(); len(all) != 0 {
		t.Errorf("there are pull requests: %+v", all)
	}
}

// TestDriftProposeGivenUp holds that a command whose look is given up gets an answer.
func TestDriftProposeGivenUp(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject + "\ndrift {}\n"})
	n := s.driftIssue()
	id := s.repo.Comment("alice", n, "lockstep drift propose")
	if _, err := s.hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
		if m.Kind == pipeline.ToDrift {
			return s.pipeline.Abandon(ctx, m, "its process died")
		}
		return s.pipeline.Handle(ctx, m)
	})
	s.expect("the answer", s.answerTo(n, id), "its process died")
}
