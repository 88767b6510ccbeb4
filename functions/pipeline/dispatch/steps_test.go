package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

const toolDigest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// stepped is a repository with one project, and the step "x" at a moment.
func stepped(on requirements.Moment, body string) githubtest.Files {
	return githubtest.Files{
		"net/main.tf": resource("a", "1"),
		"lockstep.hcl": fmt.Sprintf("project \"net\" {\n  dir = \"net\"\n}\ntools = { lint = %q }\nstep \"x\" {\n  on      = %q\n  program = [\"lint\", \"{dir}\"]\n%s}\n",
			toolDigest, on, body),
	}
}

// programs runs the steps of a stage. It keeps what it was asked to run.
type programs struct {
	mu  sync.Mutex
	ran []string
	// do is what the programs do; nil means that they succeed.
	do func(jobs.StepRun) jobs.StepResult
}

func (p *programs) use(s *stage) *programs { s.pipeline.Step = p.step; return p }

func (p *programs) step(_ context.Context, run jobs.StepRun) (jobs.StepResult, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	plan := ""
	if run.Plan != nil {
		plan = " with the plan"
	}
	p.ran = append(p.ran, fmt.Sprintf("%s %s%s", run.Job.Project, run.On, plan))
	r := passes
	if p.do != nil {
		r = p.do(run)
	}
	r.Name, r.On, r.ID, r.Required = run.Name, run.On, run.ID(), run.Required
	return r, nil
}

// seen returns the steps that have run since the last call.
func (p *programs) seen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() { p.ran = nil }()
	return strings.Join(p.ran, ", ")
}

var passes = jobs.StepResult{Outcome: comment.StepPassed}

func fails(jobs.StepRun) jobs.StepResult {
	return jobs.StepResult{Outcome: comment.StepFailed, Exit: 2, Output: []byte("main.tf:3: no tags\n")}
}

// TestSteps is the story of a step at each moment: what its failure does, and what it does once it succeeds.
func TestSteps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		on                  requirements.Moment
		body, status, apply string
		applied             bool
		seen                string
	}{
		{requirements.BeforePlan, "", "**denied** by step `x`: `the program ended with exit code 2`", "**Not applied** `net`", false, "net before_plan"},
		{requirements.AfterPlan, "", "**denied** by step `x`: `the program ended with exit code 2`", "**Not applied** `net`", false, "net after_plan with the plan"},
		{requirements.AfterPlan, "  required = false\n", "no tags", "**Applied** `net`", true, "net after_plan with the plan"},
		{requirements.Generate, "", "The step `x` (generate) failed: `the program ended with exit code 2`. Its last line was `main.tf:3: no tags`.", "**Not applied**", false, "net generate"},
		{requirements.BeforeApply, "", "ready to apply", "The step `x` (before_apply) failed: `the program ended with exit code 2`. Its last line was `main.tf:3: no tags`.", false, "net before_apply"},
		{requirements.BeforeApply, "  required = false\n", "ready to apply", "**Applied** `net`", true, "net before_apply"},
		{requirements.AfterApply, "", "ready to apply", "no tags", true, "net after_apply"},
	} {
		t.Run(string(c.on)+c.body, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, stepped(c.on, c.body))
			p := (&programs{do: fails}).use(s)
			n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
			s.expect("the status", s.status(n), c.status)
			s.expect("the answer", s.say("bob", n, "lockstep apply"), c.apply)
			if got := p.seen(); got != c.seen {
				t.Errorf("these steps ran: %s", got)
			}
			if got := made(t, s, "net"); strings.Contains(got, "serial 1") != c.applied {
				t.Errorf("the state has %s", got)
			}
			if c.applied {
				return
			}
			p.do = nil
			s.say("alice", n, "lockstep plan")
			s.expect("the answer once it succeeds", s.say("bob", n, "lockstep apply"), "**Applied** `net`: 2 added")
		})
	}
}

// TestStepsAreTheBase holds that a pull request has no say in its steps, and that none is skipped where they cannot run.
func TestStepsAreTheBase(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string]string{
		"the block removed": "project \"net\" {\n  dir = \"net\"\n}\n",
		"another program":   strings.ReplaceAll(stepped(requirements.AfterPlan, "")["lockstep.hcl"], `"{dir}"`, `"--help"`),
		"another digest":    strings.ReplaceAll(stepped(requirements.AfterPlan, "")["lockstep.hcl"], "0123456789abcdef", "fedcba9876543210"),
		"not required":      stepped(requirements.AfterPlan, "  required = false\n")["lockstep.hcl"],
		"other projects":    stepped(requirements.AfterPlan, "  projects = [\"other\"]\n")["lockstep.hcl"],
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, stepped(requirements.AfterPlan, ""))
			p := (&programs{do: func(run jobs.StepRun) jobs.StepResult {
				if strings.Join(run.Program, " ") != "lint {dir}" || "sha256:"+run.Digest != toolDigest {
					t.Errorf("%v with the digest %s runs", run.Program, run.Digest)
				}
				return fails(run)
			}}).use(s)
			n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "lockstep.hcl": settings})
			s.expect("the answer", s.say("bob", n, "lockstep apply"), "**Not applied** `net`", "step `x`")
			if p.seen() == "" {
				t.Error("the step did not run")
			}
		})
	}
	t.Run("a project that is new", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, stepped(requirements.BeforePlan, "  projects = [\"prod-*\"]\n"))
		p := (&programs{do: fails}).use(s)
		s.pull("alice", "b", githubtest.Files{
			"extra/main.tf": resource("b", "1") + "terraform {\n  backend \"local\" {\n  }\n}\n",
			"lockstep.hcl":  stepped(requirements.BeforePlan, "")["lockstep.hcl"] + "project \"extra\" {\n  dir = \"extra\"\n}\n",
		})
		if got := p.seen(); got != "extra before_plan" {
			t.Errorf("these steps ran: %s", got)
		}
	})
	t.Run("nowhere to run", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, stepped(requirements.BeforePlan, ""))
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
		s.expect("the answer", s.say("bob", n, "lockstep apply"), "**Not applied** `net`", "steps cannot run here", "the step has no result: comment `lockstep plan` to run it again")
	})
	t.Run("the files of the base", func(t *testing.T) {
		t.Parallel()
		files := stepped(requirements.BeforePlan, "  files = [\"lint.hcl\", \"missing.hcl\"]\n")
		files["lint.hcl"] = "strict"
		s := newStage(t, files)
		p := (&programs{do: func(run jobs.StepRun) jobs.StepResult {
			return jobs.StepResult{Outcome: comment.StepNotStarted, Problem: run.Problem}
		}}).use(s)
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "lint.hcl": "lax"})
		s.expect("the status", s.status(n), "the base branch's files of the step cannot be read", "missing.hcl")
		s.repo.Push("alice", "main", "change the base", githubtest.Files{"missing.hcl": "more"})
		p.do = func(run jobs.StepRun) jobs.StepResult {
			if got := string(run.Base["lint.hcl"]) + string(run.Base["missing.hcl"]); got != "strictmore" {
				t.Errorf("the step gets %q", got)
			}
			return passes
		}
		s.say("alice", n, "lockstep plan")
		s.expect("the answer", s.say("bob", n, "lockstep apply"), "**Applied** `net`")
	})
}

// TestChangedSteps holds that a plan whose step is another one by now needs a new plan.
func TestChangedSteps(t *testing.T) {
	t.Parallel()
	s := newStage(t, stepped(requirements.BeforePlan, ""))
	(&programs{}).use(s)
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.repo.Push("alice", "main", "change the base", githubtest.Files{"lockstep.hcl": strings.ReplaceAll(stepped(requirements.BeforePlan, "")["lockstep.hcl"], `"{dir}"`, `"--strict"`)})
	s.expect("the answer", s.say("bob", n, "lockstep apply"), "**Not applied** `net`", "the step has not run for this plan, or has changed since: comment `lockstep plan`")
	s.say("alice", n, "lockstep plan")
	s.expect("the answer then", s.say("bob", n, "lockstep apply"), "**Applied** `net`")
}

// TestOverriddenStep holds that those whom the block names can override a failure, and nobody else.
func TestOverriddenStep(t *testing.T) {
	t.Parallel()
	s := newStage(t, stepped(requirements.BeforePlan, "  override = [\"alice\"]\n"))
	(&programs{do: fails}).use(s)
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.headIs("denied", "b", "failure 1 project denied – 2 to add, 0 to change, 0 to destroy")
	if c := s.checkOf("b", "lockstep/net"); c.Conclusion != github.ConcludedFailure {
		t.Errorf("the check is %s", c.Conclusion)
	}
	s.say("bob", n, "lockstep override --reason \"it is fine\"")
	s.expect("without the right", s.say("bob", n, "lockstep apply"), "**Not applied** `net`")
	s.say("alice", n, "lockstep override --reason \"it is fine\"")
	s.expect("with the right", s.say("bob", n, "lockstep apply"), "**Applied** `net`")
}

// TestGeneratedFiles holds that a plan depends on the files that a step generates: an apply finds the same, or refuses.
func TestGeneratedFiles(t *testing.T) {
	t.Parallel()
	s := newStage(t, stepped(requirements.Generate, ""))
	text := resource("made", "1")
	p := (&programs{do: func(run jobs.StepRun) jobs.StepResult {
		if err := os.WriteFile(filepath.Join(run.Job.Checkout, run.Job.Dir, "made.tf"), []byte(text), 0o600); err != nil {
			t.Error(err)
		}
		return jobs.StepResult{Outcome: comment.StepPassed, Wrote: []string{"net/made.tf"}}
	}}).use(s)
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("the status", s.status(n), "terraform_data.made", "3 to add", "`x` passed (generate, 0.0 s) and wrote 1 file", "- `net/made.tf`")
	text = resource("made", "2")
	s.expect("other files", s.say("bob", n, "lockstep apply"), "**Not applied** `net`", "the configuration has changed, on the base branch or by a step on `generate`: `net/made.tf`")
	s.say("alice", n, "lockstep plan")
	s.expect("the same files", s.say("bob", n, "lockstep apply"), "**Applied** `net`: 3 added")
	if got := p.seen(); strings.Count(got, "net generate") < 4 {
		t.Errorf("these steps ran: %s", got)
	}
}

// TestGeneratedDifference shows how generated JSON differs from that of the last merged pull request, or else from the file of
// the base branch. Its order and its spaces do not matter.
func TestGeneratedDifference(t *testing.T) {
	t.Parallel()
	files := stepped(requirements.Generate, "")
	files["net/old.tf.json"] = `{"locals": {"old": 1, "x": "hunter2"}}`
	s := newStage(t, files)
	made := githubtest.Files{}
	(&programs{do: func(run jobs.StepRun) jobs.StepResult {
		r := jobs.StepResult{Outcome: comment.StepPassed, Redact: func(text string) string { return strings.ReplaceAll(text, "hunter2", "(hidden)") }}
		for name, text := range made {
			if err := os.WriteFile(filepath.Join(run.Job.Checkout, name), []byte(text), 0o600); err != nil {
				t.Error(err)
			}
			r.Wrote = append(r.Wrote, name)
		}
		slices.Sort(r.Wrote)
		return r
	}}).use(s)
	made["net/old.tf.json"] = `{"locals": {"x": "hunter2", "old": 2}}`
	made["net/made.tf.json"] = `{"resource": {"terraform_data": {"made": {"input": "1"}}}}`
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("the first pull request", s.status(n), "and wrote 2 files (1 new, 1 changed, compared with the base branch)", "# net/old.tf.json has changed", "-     \"old\": 1,\n+     \"old\": 2,", "\n      \"x\": \"(hidden)\"", "# net/made.tf.json is new\n+ {\n+   \"resource\": {")
	s.without("the first pull request", s.status(n), "hunter2")
	s.say("bob", n, "lockstep apply")
	s.merge("bob", n)

	made["net/made.tf.json"] = `{
		"resource": {"terraform_data": {"made": {"input": "1", "triggers_replace": ["a"]}}}}`
	n = s.pull("alice", "c", githubtest.Files{"net/c.tf": resource("c", "1")})
	s.expect("the second", s.status(n), "and wrote 2 files (1 changed, 1 the same, compared with the last merged pull request)", "+         \"triggers_replace\": [\n+           \"a\"\n+         ]")
	s.without("the second", s.status(n), "net/old.tf.json has changed", "+   \"resource\"")

	delete(made, "net/made.tf.json")
	var long strings.Builder
	for i := range 50 {
		fmt.Fprintf(&long, "# %d\n", i)
	}
	made["net/long.tf"] = long.String()
	n = s.pull("alice", "d", githubtest.Files{"net/d.tf": resource("d", "1")})
	s.expect("the third", s.status(n), "and wrote 2 files (1 new, 1 no longer generated, 1 the same, compared with the last merged pull request)", "The check of the project shows how the files differ.")
	s.without("the third", s.status(n), "+ # 1\n")
	s.expect("its check", s.checkOf("d", "lockstep/net").Text, "+ # 0\n+ # 1\n", "# net/made.tf.json is no longer generated\n- {")
}

// sarif is a SARIF file with findings: "FILE:LINE message".
func sarif(findings ...string) []byte {
	var results []string
	for _, f := range findings {
		place, message, _ := strings.Cut(f, " ")
		file, line, _ := strings.Cut(place, ":")
		results = append(results, fmt.Sprintf(`{"ruleId": "r1", "level": "warning", "message": {"text": %q}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": %q}, "region": {"startLine": %s}}}]}`, message, file, line))
	}
	return []byte(`{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "lint"}}, "results": [` + strings.Join(results, ",") + `]}]}`)
}

// TestNewFindings compares the findings of a pull request with those of the last merged one. New ones are shown first, and
// on their lines.
func TestNewFindings(t *testing.T) {
	t.Parallel()
	s := newStage(t, stepped(requirements.AfterPlan, "  required = false\n"))
	p := (&programs{}).use(s)
	report := func(findings ...string) {
		p.do = func(jobs.StepRun) jobs.StepResult {
			return jobs.StepResult{Outcome: comment.StepFailed, Exit: 2, Output: sarif(findings...)}
		}
	}
	report("b.tf:1 no tags")
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("the first pull request", s.status(n), "**1 finding** (1 warning)", "no result of the base branch to compare with", "no tags")
	s.say("bob", n, "lockstep apply")
	s.merge("bob", n)

	report("b.tf:1 no tags", "c.tf:2 no owner")
	n = s.pull("alice", "c", githubtest.Files{"net/c.tf": "\n" + resource("c", "1")})
	s.expect("the second", s.status(n), "**1 new finding** (1 warning), 1 was there before", "no owner")
	notes := ""
	for _, a := range s.checkOf("c", "lockstep/net").Annotations {
		notes += fmt.Sprintf("%s:%d %s\n", a.Path, a.First, a.Message)
	}
	s.expect("its annotations", notes, "net/c.tf:2 no owner")
	s.without("its annotations", notes, "no tags")

	report()
	n = s.pull("alice", "d", githubtest.Files{"net/b.tf": resource("b", "2")})
	s.expect("the third", s.status(n), "no new findings, 1 is gone")
}

// TestCostLimit blocks a plan that costs too much, by what a step has reported.
func TestCostLimit(t *testing.T) {
	t.Parallel()
	files := stepped(requirements.AfterPlan, "")
	files["lockstep.hcl"] += "require \"apply\" {\n  max_cost_increase = 10\n}\n"
	s := newStage(t, files)
	p := (&programs{}).use(s)
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("without an estimate", s.say("bob", n, "lockstep apply"), "**Not applied** `net`", "no step has reported the costs before and after this change")
	costs := func(after string) {
		p.do = func(jobs.StepRun) jobs.StepResult {
			return jobs.StepResult{Outcome: comment.StepPassed, Output: []byte(`{"version": "0.2", "currency": "USD", "projects": [{"name": "net", "pastBreakdown": {"totalMonthlyCost": "120.00", "resources": []}, "breakdown": {"totalMonthlyCost": "` + after + `", "resources": []}}], "totalMonthlyCost": "` + after + `"}`)}
		}
		s.say("alice", n, "lockstep plan")
	}
	costs("132.40")
	s.expect("too dear", s.status(n), "this change costs **12.40 USD a month more** (120.00 -> 132.40)", "this plan raises the costs by `12.4 USD`")
	s.expect("its apply", s.say("bob", n, "lockstep apply"), "**Not applied** `net`")
	costs("130.00")
	s.expect("just enough", s.say("bob", n, "lockstep apply"), "**Applied** `net`")
}

// TestGeneratedFilesOfContinuedApply holds that an apply goes on in another process with the files that its steps have
// generated, and not with others.
func TestGeneratedFilesOfContinuedApply(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"the same files": {resource("made", "1"), "**Applied** `net`"},
		"other files":    {resource("made", "2"), "a step on `generate` has written something else, in these files: `net/made.tf`. If a step on `generate` writes other files each time, every plan is out of date"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, stepped(requirements.Generate, ""))
			text := resource("made", "1")
			(&programs{do: func(run jobs.StepRun) jobs.StepResult {
				if err := os.WriteFile(filepath.Join(run.Job.Checkout, run.Job.Dir, "made.tf"), []byte(text), 0o600); err != nil {
					t.Error(err)
				}
				return passes
			}}).use(s)
			p := &parts{Engine: s.pipeline.Engine, of: 2, each: 1}
			s.pipeline.Engine = p
			n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
			m, id := s.toApply("bob", n)
			if err := s.pipeline.Handle(t.Context(), m); !errors.As(err, new(*pipeline.HandOver)) {
				t.Fatal(err)
			}
			text = c.text
			if err := s.pipeline.Handle(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			s.settle()
			s.expect("the answer", s.answerTo(n, id), c.want)
			if want := 1 + strings.Count(c.want, "Applied"); len(p.jobs) != want {
				t.Errorf("%d parts, and not %d", len(p.jobs), want)
			}
		})
	}
}

// TestStepsAfterApplyHaveTheRestOfTheTime holds that a step after an apply ends before its process does, so that the result
// of the apply is recorded.
func TestStepsAfterApplyHaveTheRestOfTheTime(t *testing.T) {
	t.Parallel()
	s := newStage(t, stepped(requirements.AfterApply, ""))
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	m, id := s.toApply("bob", n)
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	s.pipeline.Step = func(step context.Context, run jobs.StepRun) (jobs.StepResult, error) {
		want, _ := ctx.Deadline()
		if end, ok := step.Deadline(); !ok || end.After(want) {
			t.Errorf("the step has until %s, and its process until %s", end, want)
		}
		return passes, nil
	}
	if err := s.pipeline.Handle(ctx, m); err != nil {
		t.Fatal(err)
	}
	s.settle()
	s.expect("the answer", s.answerTo(n, id), "**Applied** `net`: 2 added")
}

// TestSecretOfAStep holds that a secret which a program knows is not shown, even if its output hides the secret from a
// search in the text: colours divide it, or the parts of a message do.
func TestSecretOfAStep(t *testing.T) {
	t.Parallel()
	for name, output := range map[string]string{
		"colours":   "the key is sword\x1b[31mfish\x1b[0m\n",
		"arguments": `{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "lint"}}, "results": [{"ruleId": "r1", "message": {"text": "the key is {0}{1}", "arguments": ["sword", "fish"]}}]}]}`,
		"sections":  `<testsuite name="a"><testcase name="b"><failure>the key is sword<![CDATA[fish]]></failure></testcase></testsuite>`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, stepped(requirements.AfterPlan, "  role = \"plan\"\n"))
			(&programs{do: func(jobs.StepRun) jobs.StepResult {
				redact := func(text string) string { return strings.ReplaceAll(text, "swordfish", "(hidden)") }
				return jobs.StepResult{Outcome: comment.StepFailed, Exit: 1, Output: []byte(output), Errors: []byte("and swordfish\n"), Redact: redact}
			}}).use(s)
			n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
			s.expect("the status", s.status(n), "(hidden)")
			s.without("the status", s.status(n), "swordfish")
		})
	}
}

// TestFindingsAreStoredShort holds that many long findings take little room: what is stored only compares them.
func TestFindingsAreStoredShort(t *testing.T) {
	t.Parallel()
	s := newStage(t, stepped(requirements.AfterPlan, "  required = false\n"))
	p := (&programs{}).use(s)
	report := func(n int) {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("b.tf:1 finding %d %s", i, strings.Repeat("x", 900)))
		}
		p.do = func(jobs.StepRun) jobs.StepResult {
			return jobs.StepResult{Outcome: comment.StepFailed, Exit: 2, Output: sarif(all...)}
		}
	}
	report(4_000)
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	data, err := s.pipeline.Artifacts.Get(t.Context(), s.run(n).FindingsArtifact())
	if err != nil || len(data) > 1<<20 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	s.merge("bob", n)
	report(4_001)
	n = s.pull("alice", "c", githubtest.Files{"net/c.tf": resource("c", "1")})
	s.expect("the second", s.status(n), "**1 new finding** (1 warning), 4000 were there before")
}

// A removingFile is an engine whose plans have programs that remove a file from the checkout.
type removingFile struct {
	jobs.Engine
	name string
}

func (e removingFile) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	if err := os.Remove(filepath.Join(j.Checkout, e.name)); err != nil {
		return jobs.Outcome{}, err
	}
	return e.Engine.Apply(ctx, j, plan, permit)
}

// TestStepsBeforePlanSeeTheCommit holds that the programs of a plan hide no file from a step before the plan. If the plan is
// made again, such a step runs after it.
func TestStepsBeforePlanSeeTheCommit(t *testing.T) {
	t.Parallel()
	files := stepped(requirements.BeforePlan, "  required = false\n")
	files["lockstep.hcl"] = strings.ReplaceAll(files["lockstep.hcl"], "project \"net\" {\n  dir = \"net\"\n}\n", "")
	files["main.tf"] = resource("vpc", "1")
	delete(files, "net/main.tf")
	s := newStage(t, files)
	p := (&programs{}).use(s)
	first := s.pull("alice", "first", githubtest.Files{"a.tf": resource("a", "1")})
	s.expect("the first apply", s.say("alice", first, "lockstep apply"), "**Applied**")
	s.merge("alice", first)
	p.do = func(run jobs.StepRun) jobs.StepResult {
		if _, err := os.Stat(filepath.Join(run.Job.Checkout, "bad.txt")); err == nil {
			return fails(run)
		}
		return passes
	}
	n := s.pull("bob", "b", githubtest.Files{"main.tf": resource("vpc", "2"), "bad.txt": "bad"})
	s.expect("the plan", s.status(n), "**`x` failed**")
	s.write(1, `"input": {
              "value": "1"`, `"input": {
              "value": "0"`)
	s.pipeline.Engine = removingFile{s.pipeline.Engine, "bad.txt"}
	s.expect("the apply", s.say("bob", n, "lockstep apply"), "**Not applied** `.`", "The changes differ from the approved plan")
	s.expect("the plan made again", s.status(n), "**`x` failed**")
}

// stepsStory has a step at each moment, from the push to the merge.
func stepsStory(t *testing.T, f *faults) {
	files := stepped(requirements.Generate, "")
	for _, on := range []requirements.Moment{requirements.BeforePlan, requirements.AfterPlan, requirements.BeforeApply, requirements.AfterApply} {
		files["lockstep.hcl"] += fmt.Sprintf("step %q {\n  on      = %[1]q\n  program = [\"lint\"]\n}\n", on)
	}
	s := newStage(t, files)
	(&programs{do: func(run jobs.StepRun) jobs.StepResult {
		if run.On != requirements.Generate {
			return jobs.StepResult{Outcome: comment.StepPassed, Output: sarif("b.tf:1 no tags")}
		}
		if err := os.WriteFile(filepath.Join(run.Job.Checkout, run.Job.Dir, "main.tf"), []byte(resource("made", "1")), 0o600); err != nil {
			t.Error(err)
		}
		return passes
	}}).use(s)
	f.use(s)
	s.repo.Push("alice", "b", "B", githubtest.Files{"net/b.tf": resource("b", "1")})
	n := s.repo.OpenPull("alice", "B", "b")
	s.stubborn()
	s.expect(f.String()+": the plan", s.status(n)+s.check("b"), "To apply this plan", "**1 finding**", "head lockstep: neutral 1 project ready to apply – 2 to add")
	id := s.repo.Comment("alice", n, "lockstep apply")
	s.stubborn()
	s.appliedOnce(f, n, "net", s.answerTo(n, id), 3)
	s.repo.Merge("alice", n)
	s.stubborn()
	s.tidy(f)
}

// TestWholeOutputs holds that what a program wrote is kept without secrets, and that each place which shows a part of it
// says where the rest is: the comment, the refusal of an apply, and the result of an apply.
func TestWholeOutputs(t *testing.T) {
	t.Parallel()
	var long strings.Builder
	for i := range 300 {
		fmt.Fprintf(&long, "line %d hunter2\n", i)
	}
	for _, c := range []struct {
		on      requirements.Moment
		outcome comment.StepOutcome
		places  string // the texts that have the link
		key     string
	}{
		{requirements.Generate, comment.StepFailed, "status, status after the apply", "1/steps.txt"},
		{requirements.BeforePlan, comment.StepPassed, "status", "1/steps.txt"},
		{requirements.AfterPlan, comment.StepFailed, "status, status after the apply", "1/steps.txt"},
		{requirements.BeforeApply, comment.StepFailed, "answer", "1/steps-1.txt"},
		{requirements.AfterApply, comment.StepPassed, "answer, status after the apply", "1/steps-1.txt"},
	} {
		t.Run(string(c.on), func(t *testing.T) {
			t.Parallel()
			s := newStage(t, stepped(c.on, ""))
			s.pipeline.Where = func(a pipeline.Artifact) string { return "cat " + a.Key }
			hide := func(text string) string { return strings.ReplaceAll(text, "hunter2", "(hidden)") }
			(&programs{do: func(jobs.StepRun) jobs.StepResult {
				return jobs.StepResult{Outcome: c.outcome, Exit: 2, Output: []byte(long.String()), Errors: []byte("\nx (after_plan): passed\n"), Redact: hide}
			}}).use(s)
			n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
			texts := map[string]string{"status": s.status(n)}
			texts["answer"] = s.say("bob", n, "lockstep apply")
			texts["status after the apply"] = s.status(n)
			for name, text := range texts {
				if want := slices.Contains(strings.Split(c.places, ", "), name); strings.Contains(text, "The full text: `cat ") != want {
					t.Errorf("%s, a link: %t\n%s", name, !want, text)
				}
			}
			first, _, _ := strings.Cut(c.places, ", ")
			s.expect(first, texts[first], c.key+"`")
			place := regexp.MustCompile("The full text: `cat (.*)`").FindStringSubmatch(texts[first])
			data, err := s.data.Artifacts.Get(t.Context(), pipeline.Artifact{Key: place[1]})
			if err != nil {
				t.Fatal(err)
			}
			text := string(data)
			s.expect("the whole output", text, "x ("+string(c.on)+"): "+string(c.outcome), "    line 0 (hidden)\n", "    line 299 (hidden)\n    \n    (standard error)\n    \n    x (after_plan): passed\n")
			s.without("the whole output", text, "hunter2")
			// The files for people outlive the pull request, and the next plan deletes them.
			s.repo.Push("alice", "b", "again", githubtest.Files{"net/c.tf": resource("c", "1")})
			s.settle()
			if _, err := s.data.Artifacts.Get(t.Context(), pipeline.Artifact{Key: place[1]}); !errors.Is(err, pipeline.ErrNoArtifact) {
				t.Errorf("the former output is still there: %v", err)
			}
		})
	}
}
