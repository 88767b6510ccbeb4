package comment

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/internal/toolresults"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

// someFindings are n findings of all severities.
func someFindings(n int) (f toolresults.Findings) {
	f.Counts = map[toolresults.Severity]int{}
	for i := range n {
		s := toolresults.Severities[i*len(toolresults.Severities)/n]
		f.Counts[s]++
		f.List = append(f.List, toolresults.Finding{Tool: "tflint", Rule: "terraform_typed_variables", Severity: s, Message: fmt.Sprintf("`variable%d` variable has no type", i),
			File: "live/net/main.tf", Line: 3 * (i + 1), Last: 3*(i+1) + 1, Help: "https://example.com/rules/terraform_typed_variables.md", Fingerprint: fmt.Sprint(i)})
	}
	return f
}

func amountOf(text string) toolresults.Amount {
	a, err := toolresults.ParseAmount(text)
	if err != nil {
		panic(err)
	}
	return a
}

// tflintStep is a step with findings, of which some were there before.
func tflintStep(news, known, gone int) Step {
	head := someFindings(news + known)
	base := toolresults.Findings{}
	for i, f := range head.List {
		if i%(news+known) >= news {
			base.List = append(base.List, f)
		}
	}
	for i := range gone {
		base.List = append(base.List, toolresults.Finding{Severity: toolresults.Note, Fingerprint: fmt.Sprint("gone", i)})
	}
	base.Counts = map[toolresults.Severity]int{}
	for _, f := range base.List {
		base.Counts[f.Severity]++
	}
	c := toolresults.Compare(base, head)
	s := Step{Name: "tflint", On: onBeforePlan, Outcome: StepPassed, Took: 1234 * time.Millisecond, Result: toolresults.Result{Findings: &head}, Compared: &c}
	if news+known > 0 {
		s.Outcome, s.ExitCode = StepFailed, 2
	}
	return s
}

// hostileStep is a step whose texts try to be more than texts.
func hostileStep() Step {
	const evil = "x|y`@acme/sre`</details><img src=x>\n# [a](javascript:b)<!-- lockstep:status -->\u202e\x00"
	f := someFindings(2)
	for i := range f.List {
		f.List[i].Rule, f.List[i].Message, f.List[i].File, f.List[i].Help, f.List[i].Severity = evil, evil, evil, "https://x)|<b>", evil
	}
	f.Counts = map[toolresults.Severity]int{toolresults.Error: 2}
	f.Problems = []string{evil, strings.Repeat("x", 2000)}
	return Step{Name: evil, On: onAfterPlan, Outcome: StepFailed, ExitCode: 1, Required: true, Text: evil + "\n```\n" + evil, Unread: evil, Result: toolresults.Result{Findings: &f}}
}

// generatedStep is a step that has changed a number of lines in a generated file.
func generatedStep(lines int) Step {
	var b strings.Builder
	b.WriteString("# net/cdk.tf.json has changed\n  {\n")
	for i := range lines {
		fmt.Fprintf(&b, "-   \"a%d\": 1,\n+   \"a%[1]d\": 2,\n", i)
	}
	return Step{Name: "synth", On: onGenerate, Outcome: StepPassed, Required: true, Took: time.Second, Wrote: []string{"net/cdk.tf.json"}, Whole: "lockstep logs -step synth",
		Changes: (&FileChanges{Base: LastMerge, Changed: 1, New: 2, Same: 3}).With(b.String() + "# ```net/x.tf is new\n+ ```\n+ </details><img src=x>@acme/sre\n  ```\n  <img src=x>\n")}
}

// TestSteps shows steps of every outcome and result, with 0, 1, 30 and 300 findings, tests, costs and steps.
func TestSteps(t *testing.T) {
	t.Parallel()
	passed := Step{Name: "fmt", On: onBeforePlan, Outcome: StepPassed, Took: 300 * time.Millisecond}
	text := passed
	text.Name, text.Text = "freeze", "No freeze until 20 December."
	failed := Step{Name: "freeze", On: onBeforeApply, Outcome: StepFailed, ExitCode: 3, Required: true, Took: 75 * time.Second, Text: "a\nb\nError: the network is frozen", Before: 120, More: true, Whole: "lockstep logs -step freeze"}
	slow := Step{Name: "slow", On: onAfterPlan, Outcome: StepTimedOut, Required: true, Took: 5 * time.Minute, Text: "waiting", Before: -1}
	huge := Step{Name: "huge", On: onGenerate, Outcome: StepLimited, Required: true, Took: 2 * time.Second, Reason: "it used more than 512 MB of memory"}
	absent := Step{Name: "checkov", On: onAfterApply, Outcome: StepNotStarted, Reason: "the toolbox has no program `checkov`"}
	optional := failed
	optional.Required = false
	unread := text
	unread.Name, unread.Unread = "tflint", "the output is not SARIF that Lockstep can read: runs[0].results[3].level: a text is expected, and this is an object"
	first := tflintStep(2, 0, 0)
	first.Compared = nil
	trivy := tflintStep(3, 0, 0)
	trivy.Name, trivy.On, trivy.Outcome, trivy.ExitCode = "trivy", onAfterPlan, StepPassed, 0
	trivy.Result.Findings.Problems, trivy.Result.Findings.Suppressed, trivy.Result.Findings.Outside = []string{"no network"}, 2, 1
	for i := range trivy.Compared.New.List {
		trivy.Compared.New.List[i].Message, trivy.Compared.New.List[i].Title, trivy.Compared.New.List[i].Line = "Artifact: main.tf\nType: terraform", "A bucket is public", 0
	}
	cut := tflintStep(2, 1, 0)
	cut.Compared.Inexact = true
	cut.Compared.Known.Counts[toolresults.Note] += 95_000
	tests := func(n int) Step {
		x := toolresults.Tests{TestCounts: toolresults.TestCounts{Tests: 4 * n, Failures: n, Errors: n / 2, Skipped: n}}
		for i := range n {
			x.Suites = append(x.Suites, toolresults.Suite{Name: fmt.Sprint("policy.", i), TestCounts: toolresults.TestCounts{Tests: 4, Failures: i % 2}, Time: time.Second})
			x.Failed = append(x.Failed, toolresults.Case{Suite: "policy", Name: fmt.Sprint("case ", i), Error: i%3 == 1, Message: "`a.b` has no tags\nand more", File: "live/net/main.tf", Line: i})
		}
		s := Step{Name: "conftest", On: onAfterPlan, Outcome: StepPassed, Took: time.Second, Result: toolresults.Result{Tests: &x}}
		if n > 0 {
			s.Outcome, s.ExitCode = StepFailed, 1
		}
		return s
	}
	cost := func(before, after string, projects, resources int) Step {
		c := toolresults.Cost{Currency: "USD", After: amountOf(after)}
		if before != "" {
			b := amountOf(before)
			c.Before = &b
		}
		for i := range projects {
			p := toolresults.ProjectCost{Name: fmt.Sprint("live/p", i), Before: c.Before, After: c.After}
			for j := range resources {
				p.Resources = append(p.Resources, toolresults.ResourceCost{Name: fmt.Sprintf("aws_instance.web[%d]", j), Increase: amountOf(fmt.Sprintf("%d.4", j-1))})
			}
			c.Projects = append(c.Projects, p)
		}
		return Step{Name: "infracost", On: onAfterPlan, Outcome: StepPassed, Took: 3 * time.Second, Result: toolresults.Result{Cost: &c}}
	}
	unpriced := cost("132.4", "132.4", 1, 0)
	unpriced.Result.Cost.Unsupported, unpriced.Result.Cost.Currency = 2, "U|S"
	same, cutDiff := generatedStep(0), generatedStep(1)
	cutDiff.Changes.Cut = true
	same.Changes = &FileChanges{Base: BaseBranch, Same: 1}
	many := func(n int) (out []Step) {
		for i := range n {
			s := []Step{passed, text, failed, tflintStep(3, 14, 1), tests(2)}[i%5]
			s.Name = fmt.Sprintf("%s-%d", s.Name, i)
			out = append(out, s)
		}
		return out
	}
	var b strings.Builder
	for _, c := range []struct {
		name  string
		steps []Step
	}{
		{"none", nil}, {"passed", []Step{passed}}, {"passed, with text", []Step{passed, text}}, {"failed", []Step{passed, failed}}, {"failed, not required", []Step{optional}},
		{"timed out, ended, not started", []Step{absent, slow, huge}}, {"unreadable", []Step{unread}},
		{"no findings", []Step{tflintStep(0, 0, 0)}}, {"old findings", []Step{tflintStep(0, 14, 2)}}, {"3 new findings", []Step{tflintStep(3, 14, 1)}},
		{"30 findings", []Step{tflintStep(30, 30, 0)}}, {"300 findings", []Step{tflintStep(150, 150, 0)}}, {"a cut list", []Step{cut}}, {"first run", []Step{first}}, {"problems", []Step{trivy}},
		{"no tests", []Step{tests(0)}}, {"1 test", []Step{tests(1)}}, {"300 tests", []Step{tests(300)}},
		{"costs more", []Step{cost("120", "132.4", 1, 2)}}, {"costs less", []Step{cost("132.4", "120", 1, 0)}}, {"costs nobody knows before", []Step{cost("", "132.4", 1, 0)}}, {"costs of 30 projects", []Step{cost("1", "2", 30, 300)}}, {"no prices", []Step{unpriced}},
		{"generated files", []Step{generatedStep(1)}}, {"the same generated files", []Step{same}}, {"a cut difference", []Step{cutDiff}},
		{"hostile", []Step{hostileStep()}},
	} {
		fmt.Fprintf(&b, "===== %s\n\n%s\n-----\n%s\n", c.name, stepsTitle(c.steps), StepsMarkdown(c.steps, 60_000))
	}
	for _, n := range []int{5, 30, 300} {
		for _, limit := range []int{6_000, 1_000} {
			text := StepsMarkdown(many(n), limit)
			fmt.Fprintf(&b, "===== %d steps in %d bytes: %d\n\n%s\n\n", n, limit, len(text), stepsTitle(many(n)))
			if len(text) < 7_000 {
				b.WriteString("-----\n" + text + "\n")
			}
		}
	}
	golden.File(t, "testdata/steps.md", b.String())
	for limit := 0; limit < 3_000; limit += 41 {
		text := StepsMarkdown(append(many(20), hostileStep()), limit)
		if len(text) > limit || strings.Count(text, "<details>") != strings.Count(text, "</details>\n") || strings.Count(text, "\n```")%2 != 0 {
			t.Fatalf("limit %d: %d bytes\n%s", limit, len(text), text)
		}
	}
}

// TestStepsAreText renders hostile steps as HTML. All of it is code: there is no image, no link, and no cell too many.
func TestStepsAreText(t *testing.T) {
	t.Parallel()
	x := toolresults.Tests{TestCounts: toolresults.TestCounts{Tests: 1, Failures: 1}}
	c := toolresults.Cost{Currency: hostileStep().Name, Projects: make([]toolresults.ProjectCost, 2)}
	for _, evil := range append([]string{hostileStep().Name, "a\\|b", "\\`|", "a`b``c|", "|"}, breaking...) {
		x.Suites = append(x.Suites, toolresults.Suite{Name: evil})
		x.Failed = append(x.Failed, toolresults.Case{Name: evil, Message: evil, File: evil, Line: 1})
		c.Projects[0].Resources = append(c.Projects[0].Resources, toolresults.ResourceCost{Name: evil, Increase: amountOf("1")})
		c.Projects[1].Name = evil
	}
	s := hostileStep()
	s.Compared = &toolresults.Comparison{New: s.Result.Findings.Group, Known: s.Result.Findings.Group}
	s.Changes = generatedStep(1).Changes
	text := StepsMarkdown([]Step{s, {Name: "x", Outcome: StepFailed, Result: toolresults.Result{Tests: &x}}, {Name: "y", Result: toolresults.Result{Cost: &c}}}, 100_000)
	var b strings.Builder
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	if err := md.Convert([]byte(text), &b); err != nil {
		t.Fatal(err)
	}
	tags := map[string]bool{}
	for _, tag := range regexp.MustCompile(`<[a-zA-Z!/?][^>]*>`).FindAllString(b.String(), -1) {
		tags[tag] = true
	}
	delete(tags, `<code class="language-diff">`)
	for _, known := range strings.Fields("<details> </details> <summary> </summary> <p> </p> <table> </table> <thead> </thead> <tbody> </tbody> <tr> </tr> <th> </th> <td> </td> <code> </code> <strong> </strong> <pre> </pre>") {
		delete(tags, known)
	}
	if len(tags) > 0 {
		t.Errorf("%v in\n%s", tags, b.String())
	}
	for row := range strings.SplitSeq(b.String(), "</tr>") {
		if n := strings.Count(row, "<td>"); n > 6 || n == 1 {
			t.Errorf("%d cells: %s", n, row)
		}
	}
}

// TestStepsOfProjects shows the comment and the check of 1, 30 and 300 projects with steps, and of a project without a plan.
func TestStepsOfProjects(t *testing.T) {
	t.Parallel()
	project := func(i int, steps ...Step) ProjectStatus {
		for j := range steps {
			steps[j].Took += time.Duration(i) * time.Second
		}
		return ProjectStatus{Name: fmt.Sprint("p", i), Standing: Ready, PlanSummary: PlanSummary{Counts: counting.Counts{Add: 2}, Hash: fmt.Sprintf("%064x", i+1)}, Texts: Texts{Body: somePlan, Check: fmt.Sprint("lockstep/p", i), Steps: steps}}
	}
	passed := Step{Name: "fmt", On: onBeforePlan, Outcome: StepPassed}
	freeze := Step{Name: "freeze", On: onAfterPlan, Outcome: StepFailed, ExitCode: 3, Required: true, Text: "The network is frozen."}
	unplanned := project(7, freeze)
	unplanned.Standing, unplanned.Body, unplanned.Hash = PlanFailed, "", ""
	unplanned.Steps[0].On = onBeforePlan
	status := func(n int, of func(i int) []Step) (s Status) {
		s.Head = someSHA
		for i := range n {
			s.Projects = append(s.Projects, project(i, of(i)...))
		}
		return s
	}
	different := func(i int) []Step {
		x := tflintStep(1+i%3, 2, 0)
		x.Name = fmt.Sprint("tflint", i%4)
		return []Step{freeze, x, passed}
	}
	var b strings.Builder
	for _, c := range []struct {
		name string
		Status
		limit int
	}{
		{"one project", status(1, different), 65_000},
		{"30 projects with equal steps", status(30, func(int) []Step { return []Step{passed} }), 65_000},
		{"3 projects with different steps, little room", status(3, different), 5_000},
		{"300 projects with different steps", status(300, different), 65_000},
		{"300 projects, each with an output of its own", status(300, func(i int) []Step {
			all := different(i)
			all[0].Text = strings.Repeat(fmt.Sprintln("The network", i, "is frozen."), 10)
			return all
		}), 65_000},
		{"generated files, few lines", status(1, func(int) []Step { return []Step{generatedStep(2)} }), 65_000},
		{"generated files, many lines", status(1, func(int) []Step { return []Step{generatedStep(40)} }), 65_000},
		{"a project without a plan", Status{Head: someSHA, Projects: []ProjectStatus{unplanned}}, 65_000},
	} {
		text := c.Markdown(c.limit)
		if len(text) > c.limit {
			t.Errorf("%s: %d bytes", c.name, len(text))
		}
		if len(text) > 3_000 {
			text = text[:strings.LastIndex(text[:3_000], "\n")] + "\n[...]\n"
			text = regexp.MustCompile("(?m)^(.{150}).*$").ReplaceAllString(text, "$1 [...] |")
		}
		fmt.Fprintf(&b, "===== %s\n\n%s\n", c.name, text)
	}
	check := Check{ProjectStatus: project(1, different(1)...)}
	fmt.Fprintf(&b, "===== check\n\n%s\n-----\n%s-----\n%s\n", check.Title(100), check.Summary(60_000), check.Text(60_000))
	golden.File(t, "testdata/status-steps.md", b.String())
	for _, limit := range []int{500, 2_000} {
		if n := len(check.Text(limit)); n > limit {
			t.Errorf("%d bytes of %d", n, limit)
		}
	}
}

// TestStepsWithin holds that hostile steps fit into a record, that their numbers stay, and that others stay as they are.
func TestStepsWithin(t *testing.T) {
	t.Parallel()
	usual := []Step{tflintStep(3, 14, 0), hostileStep()}
	if got := StepsWithin(usual); StepsMarkdown(got, 60_000) != StepsMarkdown(usual, 60_000) {
		t.Errorf("usual steps are shown in another way:\n%s", StepsMarkdown(got, 60_000))
	}
	long := strings.Repeat("<", 2_000)
	f := someFindings(5_000)
	for i := range f.List {
		f.List[i].Message, f.List[i].File, f.List[i].Rule, f.List[i].Tool, f.List[i].Help, f.List[i].Fingerprint = long, long, long, long, long, long
	}
	for i := range 100_000 {
		f.Counts[toolresults.Severity(fmt.Sprint(i))] = -1
	}
	f.Problems = slices.Repeat([]string{long}, 1000)
	x := toolresults.Tests{TestCounts: toolresults.TestCounts{Tests: 1000, Failures: 1000}, Suites: slices.Repeat([]toolresults.Suite{{Name: long}}, 1000), Failed: slices.Repeat([]toolresults.Case{{Name: long, Message: long, Class: long, File: long}}, 1000)}
	c := toolresults.Cost{Currency: long, Projects: slices.Repeat([]toolresults.ProjectCost{{Name: long, Resources: slices.Repeat([]toolresults.ResourceCost{{Name: long}}, 1000)}}, 1000)}
	all := Step{Name: long, On: StepOn(long), Outcome: StepOutcome(long), Reason: long, Unread: long, Whole: long, Text: strings.Repeat(long, 100), Took: -1, Changes: &FileChanges{Diff: strings.Repeat(long+"\n", 100)}, Result: toolresults.Result{Findings: &f, Tests: &x, Cost: &c}}
	first, second := all, all
	second.Compared = &toolresults.Comparison{New: f.Group, Known: f.Group, Gone: f.Group}
	got := StepsWithin(slices.Repeat([]Step{first, second}, 100))
	if size := encodedSize(got); len(got) != MaxSteps || size > 300_000 {
		t.Errorf("%d steps, %d bytes", len(got), size)
	}
	if g := got[0].Result; g.Findings.Total() != 5_000 || g.Findings.MoreProblems < 997 || g.Tests.Failures != 1000 || g.Tests.MoreSuites+len(g.Tests.Suites) != 1000 || g.Cost.MoreProjects+len(g.Cost.Projects) != 1000 {
		t.Errorf("%+v", g)
	}
	if len(f.List) != 5_000 || len(f.List[0].Rule) != 2_000 {
		t.Error("the steps of the caller are changed")
	}
	if got[0].Passed() {
		t.Error("an unknown outcome passes")
	}
}

// TestStepNotes holds which findings and tests become annotations, and in which order.
func TestStepNotes(t *testing.T) {
	t.Parallel()
	tests := Step{Name: "unit", Outcome: StepFailed, Result: toolresults.Result{Tests: &toolresults.Tests{Failed: []toolresults.Case{{Name: "a", File: "a.tf", Line: 2, Message: "no"}, {Name: "b", Message: "no place"}, {Name: "c", File: "c.tf", Line: 1}}}}}
	var b strings.Builder
	for _, c := range []struct {
		name  string
		steps []Step
	}{{"new findings only", []Step{tflintStep(7, 20, 1)}}, {"tests", []Step{tests}}, {"hostile", []Step{hostileStep()}}} {
		notes, more := StepNotes(c.steps)
		fmt.Fprintf(&b, "===== %s, %d more\n", c.name, more)
		for _, n := range notes {
			fmt.Fprintf(&b, "%s:%d-%d %q %s | %s\n", n.Path, n.Line, n.Last, n.Level, n.Title, strings.ReplaceAll(n.Message, "\n", `\n`))
		}
	}
	golden.File(t, "testdata/stepnotes.txt", b.String())
	first := tflintStep(300, 0, 0)
	first.Compared = nil
	if notes, more := StepNotes([]Step{first}); len(notes) != MaxStepNotes || more != 200 || notes[0].Level != "" {
		t.Errorf("%d notes and %d more", len(notes), more)
	}
}
