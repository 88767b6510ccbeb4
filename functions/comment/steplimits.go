package comment

import (
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/internal/toolresults"
)

// Limits of the steps of one project, as they are kept in a record.
const (
	MaxSteps = 30

	maxStepsSize  = 250_000 // bytes of all, as JSON
	maxStepLists  = 100     // findings, suites, failed tests and costs of a step, each
	maxStepsLists = 300     // the same, of all steps
	maxStepOutput = 6_000   // bytes of Text
)

// StepsWithin shortens steps to the limits of a record. The steps come from the process that ran the programs, and can
// contain anything. Lists are cut, and the numbers of all findings and tests stay. If there are more than [MaxSteps],
// the rest is left out.
func StepsWithin(steps []Step) []Step {
	steps = steps[:min(len(steps), MaxSteps)]
	for n := min(maxStepLists, maxStepsLists/max(len(steps), 1)); ; n /= 2 {
		out := make([]Step, 0, len(steps))
		for _, s := range steps {
			out = append(out, s.within(n))
		}
		if n == 0 || encodedSize(out) <= maxStepsSize {
			return out
		}
	}
}

// within returns the step with at most n entries in each list. If n is 0, the output is left out, too.
func (s Step) within(n int) Step {
	s.Name, s.Reason = cutTitle(s.Name, maxTestName), cutTitle(s.Reason, maxStepText)
	s.On, s.Outcome = StepOn(cutTitle(string(s.On), maxTestName)), StepOutcome(cutTitle(string(s.Outcome), maxTestName))
	s.Unread, s.Whole = cutTitle(s.Unread, maxTestText), cutTitle(s.Whole, maxTestText)
	s.Took = max(s.Took, 0)
	if more := len(s.Text) - maxStepOutput; more > 0 {
		s.Text, s.Before = strings.ToValidUTF8(s.Text[more:], ""), -1
	}
	if n == 0 {
		s.Text, s.Before, s.Whole, s.Unread = "", 0, "", cutTitle(s.Unread, maxStepText)
	}
	if s.Changes != nil {
		if s.Changes = s.Changes.With(s.Changes.Diff); n == 0 {
			s.Changes.Diff, s.Changes.Cut = "", true
		}
	}
	if more := len(s.Wrote) - n; more > 0 {
		s.Wrote, s.MoreWrote = s.Wrote[:n], s.MoreWrote+more
	}
	if s.Result.Findings != nil {
		f := *s.Result.Findings
		f.Group = groupWithin(f.Group, n)
		if more := len(f.Problems) - min(n, maxStepProblems); more > 0 {
			f.Problems, f.MoreProblems = f.Problems[:len(f.Problems)-more], f.MoreProblems+more
		}
		f.Problems = slices.Clone(f.Problems)
		for i, p := range f.Problems {
			f.Problems[i] = cutTitle(p, maxTestText)
		}
		s.Result.Findings = &f
	}
	if s.Compared != nil {
		c := *s.Compared
		c.New, c.Known, c.Gone = groupWithin(c.New, n), groupWithin(c.Known, n), groupWithin(c.Gone, 0)
		s.Compared = &c
		if s.Result.Findings != nil {
			s.Result.Findings.List = nil // the comparison has them
		}
	}
	if s.Result.Tests != nil {
		s.Result.Tests = testsWithin(*s.Result.Tests, n)
	}
	if s.Result.Cost != nil {
		s.Result.Cost = costWithin(*s.Result.Cost, n)
	}
	return s
}

// groupWithin returns a group with at most n findings in its list, and with known severities.
func groupWithin(g toolresults.Group, n int) toolresults.Group {
	counts := map[toolresults.Severity]int{}
	for _, s := range toolresults.Severities {
		if count := g.Counts[s]; count > 0 {
			counts[s] = count
		}
	}
	g.Counts, g.List = counts, slices.Clone(g.Shortened(n).List)
	for i, f := range g.List {
		f.Tool, f.Rule, f.Title, f.Severity = cutTitle(f.Tool, maxTestName), cutTitle(f.Rule, maxTestName), cutTitle(f.Title, maxTestName), toolresults.Severity(cutTitle(string(f.Severity), maxTestName))
		f.Message, f.File, f.Help, f.Fingerprint = cutTitle(f.Message, maxTestText), cutTitle(f.File, maxTestText), cutTitle(f.Help, maxTestText), ""
		g.List[i] = f
	}
	return g
}

// testsWithin returns tests with at most n suites and n failed cases.
func testsWithin(x toolresults.Tests, n int) *toolresults.Tests {
	if more := len(x.Suites) - n; more > 0 {
		x.Suites, x.MoreSuites = x.Suites[:n], x.MoreSuites+more
	}
	x.Suites, x.Failed = slices.Clone(x.Suites), slices.Clone(x.Failed[:min(len(x.Failed), n)])
	for i, s := range x.Suites {
		x.Suites[i].Name = cutTitle(s.Name, maxTestName)
	}
	for i, c := range x.Failed {
		c.Suite, c.Class, c.Name = cutTitle(c.Suite, maxTestName), cutTitle(c.Class, maxTestName), cutTitle(c.Name, maxTestName)
		c.Message, c.File = cutTitle(c.Message, maxTestText), cutTitle(c.File, maxTestText)
		x.Failed[i] = c
	}
	return &x
}

// costWithin returns costs with at most n projects, and n resources of each of the first ones.
func costWithin(c toolresults.Cost, n int) *toolresults.Cost {
	c.Currency = cutTitle(c.Currency, 10)
	if more := len(c.Projects) - n; more > 0 {
		c.Projects, c.MoreProjects = c.Projects[:n], c.MoreProjects+more
	}
	c.Projects = slices.Clone(c.Projects)
	left := n
	for i, p := range c.Projects {
		p.Name = cutTitle(p.Name, maxTestName)
		if more := len(p.Resources) - left; more > 0 {
			p.Resources, p.MoreResources = p.Resources[:left], p.MoreResources+more
		}
		left -= len(p.Resources)
		p.Resources = slices.Clone(p.Resources)
		for j, r := range p.Resources {
			p.Resources[j].Name = cutTitle(r.Name, maxTestName)
		}
		c.Projects[i] = p
	}
	return &c
}
