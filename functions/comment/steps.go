package comment

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/internal/toolresults"
)

// A Step is the outcome of a step block of lockstep.hcl for one project. Its texts come from the program that ran, and
// so from the pull request. They have no secrets.
type Step struct {
	Name string
	On   StepOn
	// Outcome says how the program ended. ExitCode is set if it is StepFailed. Reason is the cause if it is StepLimited
	// or StepNotStarted: a phrase in Markdown, such as "it used more than 512 MB of memory".
	Outcome  StepOutcome
	ExitCode int    `json:",omitempty"`
	Reason   string `json:",omitempty"`
	// Required is set for a step that must pass: otherwise it blocks what comes after it.
	Required bool          `json:",omitempty"`
	Took     time.Duration `json:",omitempty"`
	// Wrote are the files of the checkout that the step has made, changed or removed, as paths from its root.
	Wrote     []string `json:",omitempty"`
	MoreWrote int      `json:",omitempty"`
	// Changes says how the configuration among the files in Wrote differs from that of the base branch;
	// nil if there is no configuration.
	Changes *FileChanges `json:",omitempty"`
	// Result has the findings, tests or costs that Lockstep has read in the output. Unread is the error
	// of [toolresults.Read]; "" for none.
	Result toolresults.Result
	Unread string `json:",omitempty"`
	// Compared compares the findings with those of the base branch; nil if the base branch has no result.
	Compared *toolresults.Comparison `json:",omitempty"`
	// Text has the last lines of the output, from [toolresults.Tail]. Before is how many lines are left out before
	// them; -1 for many. More is set if the program wrote more than Text. Whole says where people find everything
	// that the steps wrote: an address, or a command that fetches it; "" if there is neither.
	Text   string `json:",omitempty"`
	Before int    `json:",omitempty"`
	More   bool   `json:",omitempty"`
	Whole  string `json:",omitempty"`
}

// StepOutputsAt sets Whole in each step that does not show all of its output. where is the value for Whole.
func StepOutputsAt(steps []Step, where string) {
	for i := range steps {
		if c := steps[i].Changes; steps[i].More || c != nil && c.Cut {
			steps[i].Whole = where
		}
	}
}

// StepOn is when a step runs.
type StepOn string

// The times, in their order.
const (
	onGenerate    StepOn = "generate"
	onBeforePlan  StepOn = "before_plan"
	onAfterPlan   StepOn = "after_plan"
	onBeforeApply StepOn = "before_apply"
	onAfterApply  StepOn = "after_apply"
)

// A stepTime is a time at which steps run. phrase is the time in words. blocked is the consequence if a required step
// did not pass.
type stepTime struct {
	on              StepOn
	phrase, blocked string
}

// stepTimes are the times of steps, in their order.
var stepTimes = []stepTime{
	{onGenerate, "generate", "The step is required, so Lockstep did not plan the project. Fix the cause, and push."},
	{onBeforePlan, "before the plan", "The step is required: the apply needs its success, or an override. Fix the cause, and push."},
	{onAfterPlan, "after the plan", "The step is required: the apply needs its success, or an override. Fix the cause, and push."},
	{onBeforeApply, "before the apply", "The step is required, so Lockstep applied nothing. Fix the cause, and apply again."},
	{onAfterApply, "after the apply", "The apply itself is not affected."},
}

// StepOutcome is how a step ended.
type StepOutcome string

// The outcomes.
const (
	StepPassed     StepOutcome = "passed"
	StepFailed     StepOutcome = "failed"      // with an exit code that is not 0
	StepTimedOut   StepOutcome = "timed out"   // after Took
	StepLimited    StepOutcome = "ended"       // by a limit: Reason
	StepNotStarted StepOutcome = "not started" // Reason
)

// Passed reports whether the program ended with exit code 0.
func (s Step) Passed() bool { return s.Outcome == StepPassed }

// Blocks reports whether the step blocks what comes after it.
func (s Step) Blocks() bool { return s.Required && !s.Passed() }

// news returns the findings that people have to look at: the new ones, or all if nothing is known of the base branch.
func (s Step) news() toolresults.Group {
	switch {
	case s.Compared != nil:
		return s.Compared.New
	case s.Result.Findings != nil:
		return s.Result.Findings.Group
	}
	return toolresults.Group{}
}

// rank orders steps for people: first those that block, then those that did not pass, then those with new findings.
func (s Step) rank() int {
	switch {
	case s.Blocks():
		return 0
	case !s.Passed():
		return 1
	case s.news().Total() > 0 || s.Unread != "" || s.Result.Findings != nil && len(s.Result.Findings.Problems) > 0:
		return 2
	}
	return 3
}

// plain reports whether the step passed and there is nothing to say about its result.
func (s Step) plain() bool {
	return s.rank() == 3 && s.Result == (toolresults.Result{}) && s.wrote() == 0
}

// ordered returns the steps as people read them.
func ordered(steps []Step) []Step {
	at := func(s Step) int { return slices.IndexFunc(stepTimes, func(t stepTime) bool { return t.on == s.On }) }
	return slices.SortedStableFunc(slices.Values(steps), func(a, b Step) int { return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(at(a), at(b))) })
}

// stepsTitle returns the verdict about the steps in a few words, for the title of a check; "" if there are no steps.
func stepsTitle(steps []Step) string {
	if len(steps) == 0 {
		return ""
	}
	var failed, news, findings int
	for _, s := range steps {
		n := s.news().Total()
		if s.Compared != nil {
			news += n
		} else {
			findings += n
		}
		if !s.Passed() {
			failed++
		}
	}
	title := counted(len(steps), "step", "steps") + " passed"
	switch {
	case failed == len(steps):
		title = counted(failed, "step", "steps") + " did not pass"
	case failed > 0:
		title = fmt.Sprintf("%d of %s did not pass", failed, counted(len(steps), "step", "steps"))
	}
	if news > 0 {
		title += ", " + counted(news, "new finding", "new findings")
	}
	if findings > 0 {
		title += ", " + counted(findings, "finding", "findings")
	}
	return title
}

func counted(n int, one, many string) string {
	return fmt.Sprintf("%d %s", n, plural(n == 1, one, many))
}

// stepsKey returns a text for the steps of the project, which is equal for equal steps. Their times do not count.
func (p ProjectStatus) stepsKey() string {
	steps := briefly(p.Steps)
	for i := range steps {
		steps[i].Took, steps[i].Whole = 0, ""
	}
	return StepsMarkdown(steps, maxSectionSteps)
}

// stepsTogether returns which steps need attention, with the names of the projects, in at most limit bytes; "" if none
// does. It is for comments with too many projects.
func (s Status) stepsTogether(limit int) string {
	var lines []string
	projects := map[string][]string{}
	for _, p := range s.Projects {
		for _, x := range ordered(p.Steps) {
			line := "has new findings"
			switch {
			case x.Blocks():
				line = "is required, and **did not pass**"
			case !x.Passed():
				line = "did not pass"
			case x.rank() > 2:
				continue
			}
			line = markdown.Code(cutTitle(x.Name, maxTestName)) + " " + line
			if projects[line] == nil {
				lines = append(lines, line)
			}
			projects[line] = append(projects[line], p.Label())
		}
	}
	if len(lines) == 0 {
		return ""
	}
	slices.SortStableFunc(lines, func(a, b string) int { return cmp.Compare(strings.Count(b, "**"), strings.Count(a, "**")) })
	const head, rest = "\n#### Steps\n\n", "- *Other steps do not fit here. See the checks of the projects.*\n"
	text := head
	for _, line := range lines {
		item := fmt.Sprintf("- %s: %s\n", line, headed(projects[line]))
		if len(text)+len(item)+len(rest) > limit {
			return text + rest
		}
		text += item
	}
	return text
}

// StepsMarkdown returns the steps of a project, in at most limit bytes: first those that need attention. If there is
// not enough room, tables lose rows first, then there is one line for each step, and then a number of steps.
func StepsMarkdown(steps []Step, limit int) string {
	if len(steps) == 0 {
		return ""
	}
	all := ordered(steps)
	for _, rows := range []int{20, 5, 0} {
		if text := stepsWith(all, rows); len(text) <= limit {
			return text
		}
	}
	var b strings.Builder
	for i, s := range all {
		rest := fmt.Sprintf("\n*%s not shown here. See the check of the project.*\n", plural(len(all)-i == 1, "1 more step is", fmt.Sprintf("%d more steps are", len(all)-i)))
		line := "- " + s.verdict() + "\n"
		if b.Len()+len(line)+len(rest) > limit {
			if b.Len()+len(rest) > limit {
				return ""
			}
			return b.String() + rest
		}
		b.WriteString(line)
	}
	return b.String()
}

// stepsWith returns all steps, with at most rows rows in each table. If rows is 0, there are no tables and no
// texts.
func stepsWith(all []Step, rows int) string {
	var b strings.Builder
	var passed []string
	for _, s := range all {
		if s.plain() && (rows == 0 || s.Text == "") {
			passed = append(passed, markdown.Code(cutTitle(s.Name, maxTestName)))
			continue
		}
		b.WriteString(s.verdict() + "\n")
		for _, text := range []string{s.blocked(), s.doubts()} {
			if text != "" {
				b.WriteString("\n" + text + "\n")
			}
		}
		if rows > 0 {
			b.WriteString(s.details(rows))
		}
		b.WriteString("\n")
	}
	if len(passed) > 0 {
		few := passed[:min(len(passed), rows+5)]
		text := strings.Join(few, ", ")
		if more := len(passed) - len(few); more > 0 {
			text += fmt.Sprintf(", and %d more", more)
		}
		fmt.Fprintf(&b, "%s passed: %s\n\n", plural(len(passed) == 1, "Step", "Steps"), text)
	}
	return b.String()
}

// verdict returns one line about the step.
func (s Step) verdict() string {
	name := markdown.Code(cutTitle(s.Name, maxTestName))
	when := string(s.On)
	for _, t := range stepTimes {
		if t.on == s.On {
			when = t.phrase
		}
	}
	text := ""
	switch s.Outcome {
	case StepPassed:
		text = fmt.Sprintf("%s passed (%s, %s)", name, when, took(s.Took))
	case StepFailed:
		text = fmt.Sprintf("**%s failed** (%s, exit code %d, %s)", name, when, s.ExitCode, took(s.Took))
	case StepTimedOut:
		text = fmt.Sprintf("**%s timed out** (%s, %s)", name, when, took(s.Took))
	case StepLimited:
		text = fmt.Sprintf("**%s was ended** (%s, %s), because %s", name, when, took(s.Took), s.Reason)
	default:
		text = fmt.Sprintf("**%s did not start** (%s), because %s", name, when, s.Reason)
	}
	if n := s.wrote(); n > 0 {
		text += " and wrote " + counted(n, "file", "files")
		if words := s.Changes.words(); words != "" {
			text += " (" + words + ")"
		}
	}
	for _, result := range []string{s.findings(), s.tests(), s.cost()} {
		if result != "" {
			text += ": " + result
		}
	}
	return text + "."
}

// took returns a duration for people; short ones with one digit after the point.
func took(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return spell(d)
}

// blocked returns the consequence of a step that did not pass; "" if it passed.
func (s Step) blocked() string {
	if s.Passed() {
		return ""
	}
	for _, t := range stepTimes {
		if t.on == s.On && (s.Required || s.On == onAfterApply) {
			return t.blocked
		}
	}
	return "The step is not required, so it blocks nothing."
}

// doubts returns why the result may be incomplete; "" if it is complete.
func (s Step) doubts() string {
	var parts []string
	if s.Unread != "" {
		parts = append(parts, fmt.Sprintf("**Lockstep cannot read the result**: %s.", markdown.Code(cutTitle(s.Unread, maxStepText))))
	}
	if f := s.Result.Findings; f != nil && len(f.Problems) > 0 {
		shown := f.Problems[:min(len(f.Problems), maxStepProblems)]
		var texts []string
		for _, p := range shown {
			texts = append(texts, markdown.Code(cutTitle(p, maxStepText)))
		}
		if more := len(f.Problems) - len(shown) + f.MoreProblems; more > 0 {
			texts = append(texts, fmt.Sprintf("and %d more", more))
		}
		parts = append(parts, fmt.Sprintf("**Findings may be missing.** The program reports errors of its own: %s.", strings.Join(texts, ", ")))
	}
	return strings.Join(parts, "\n\n")
}

const (
	maxStepProblems = 3
	maxStepText     = 300 // bytes of a message
)

// findings returns the numbers of findings: "3 new findings (1 error, 2 warnings), 14 were there before". It returns ""
// if the result has no findings, but tests or costs.
func (s Step) findings() string {
	f := s.Result.Findings
	if f == nil {
		return ""
	}
	text := ""
	switch c := s.Compared; {
	case c == nil && f.Total() == 0:
		text = "no findings"
	case c == nil:
		text = fmt.Sprintf("**%s** (%s), and no result of the base branch to compare with", counted(f.Total(), "finding", "findings"), severities(f.Counts))
	default:
		text = "no new findings"
		if n := c.New.Total(); n > 0 {
			text = fmt.Sprintf("**%s** (%s)", counted(n, "new finding", "new findings"), severities(c.New.Counts))
		}
		if n := c.Known.Total(); n > 0 {
			text += fmt.Sprintf(", %d %s there before", n, plural(n == 1, "was", "were"))
		}
		if n := c.Gone.Total(); n > 0 {
			text += fmt.Sprintf(", %d %s gone", n, plural(n == 1, "is", "are"))
		}
	}
	if f.Suppressed > 0 {
		text += fmt.Sprintf(", %d suppressed", f.Suppressed)
	}
	return text
}

// severities returns numbers by severity: "1 error, 2 warnings".
func severities(counts map[toolresults.Severity]int) string {
	var parts []string
	for _, s := range toolresults.Severities {
		if n := counts[s]; n > 0 {
			word := string(s)
			if slices.Contains([]toolresults.Severity{toolresults.Error, toolresults.Warning, toolresults.Note}, s) && n > 1 {
				word += "s"
			}
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}
	return strings.Join(parts, ", ")
}

// tests returns the numbers of tests: "2 of 12 tests failed, 1 skipped".
func (s Step) tests() string {
	x := s.Result.Tests
	if x == nil {
		return ""
	}
	var parts []string
	switch failed := x.Failures + x.Errors; {
	case x.Tests == 0 && failed == 0:
		parts = append(parts, "no tests")
	case failed == 0:
		parts = append(parts, counted(x.Tests-x.Skipped, "test", "tests")+" passed")
	default:
		parts = append(parts, fmt.Sprintf("**%d of %s failed**", failed, counted(x.Tests, "test", "tests")))
		if x.Errors > 0 {
			parts = append(parts, fmt.Sprintf("%d of them with an error", x.Errors))
		}
	}
	if x.Skipped > 0 {
		parts = append(parts, fmt.Sprintf("%d skipped", x.Skipped))
	}
	return strings.Join(parts, ", ")
}

// cost returns what the change costs: "this change costs 12.40 USD a month more (120.00 -> 132.40)".
func (s Step) cost() string {
	c := s.Result.Cost
	if c == nil {
		return ""
	}
	text := costChange(c.Currency, c.Before, c.After)
	if c.Unsupported > 0 {
		text += fmt.Sprintf(", and %s no price", plural(c.Unsupported == 1, "1 resource has", fmt.Sprintf("%d resources have", c.Unsupported)))
	}
	return text
}

// currency matches codes of currencies.
var currency = regexp.MustCompile(`^[A-Z]{3}$`)

func costChange(unit string, before *toolresults.Amount, after toolresults.Amount) string {
	if !currency.MatchString(unit) {
		unit = markdown.Code(unit)
	}
	if before == nil {
		return fmt.Sprintf("everything costs %s %s a month, and the costs before this change are unknown", after.Rounded(), unit)
	}
	increase := after.Minus(*before)
	from := fmt.Sprintf("(%s -> %s)", before.Rounded(), after.Rounded())
	switch increase.Sign() {
	case 1:
		return fmt.Sprintf("this change costs **%s %s a month more** %s", increase.Rounded(), unit, from)
	case -1:
		return fmt.Sprintf("this change costs **%s %s a month less** %s", increase.Abs().Rounded(), unit, from)
	}
	return fmt.Sprintf("this change does not change the costs (%s %s a month)", after.Rounded(), unit)
}
