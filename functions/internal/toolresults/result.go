package toolresults

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// A Format is a format of output.
type Format string

// The formats. [Detect] chooses one of the others by the output.
const (
	Detect    Format = ""
	Text      Format = "text"
	SARIF     Format = "sarif"
	JUnit     Format = "junit"
	Infracost Format = "infracost"
)

// A Result is what Lockstep understands of a program's output. At most one field is set. If none is, the output is
// text. All texts are redacted and cut. They come from the pull request, and may contain any visible character.
type Result struct {
	Findings *Findings `json:",omitempty"`
	Tests    *Tests    `json:",omitempty"`
	Cost     *Cost     `json:",omitempty"`
}

// Findings is the content of a SARIF file.
type Findings struct {
	Group
	// Suppressed is the number of findings that the configuration or the code suppresses. They are not in the group.
	Suppressed int `json:",omitempty"`
	// Outside is the number of findings at a place outside of the repository. They are in the group, without a file.
	Outside int `json:",omitempty"`
	// Problems are errors of the tool itself: its findings may be incomplete. MoreProblems is how many are left out.
	Problems     []string `json:",omitempty"`
	MoreProblems int      `json:",omitempty"`
}

// A Group is a number of findings.
type Group struct {
	// Counts is the number of findings by severity, with those that List leaves out.
	Counts map[Severity]int `json:",omitempty"`
	// List has the findings, worst first, and at most [MaxFindings].
	List []Finding `json:",omitempty"`
}

// Total returns the number of findings.
func (g Group) Total() (n int) {
	for _, count := range g.Counts {
		n += count
	}
	return n
}

// Shortened returns the group with at most n findings in its list, and with all counts.
func (g Group) Shortened(n int) Group {
	g.List = g.List[:min(n, len(g.List))]
	return g
}

func (g *Group) add(f Finding) {
	g.count(f.Severity)
	g.List = append(g.List, f)
}

func (g *Group) count(s Severity) {
	if g.Counts == nil {
		g.Counts = map[Severity]int{}
	}
	g.Counts[s]++
}

// A Severity is how serious a finding is. SARIF has the levels error, warning and note. Security tools add a number
// from 0.1 to 10, which takes precedence: from 9 it is critical, from 7 high, from 4 medium, else low.
//
// Source: https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning
type Severity string

// The severities.
const (
	Critical Severity = "critical"
	High     Severity = "high"
	Error    Severity = "error"
	Medium   Severity = "medium"
	Warning  Severity = "warning"
	Low      Severity = "low"
	Note     Severity = "note"
)

// Severities has all severities, the worst first.
var Severities = []Severity{Critical, High, Error, Medium, Warning, Low, Note}

// A Finding is one result of a scanner.
type Finding struct {
	Tool, Rule string
	Severity   Severity
	// Rank is the tool's own priority from 1 to 100, 100 the highest; 0 for none.
	Rank int `json:",omitempty"`
	// Title is the short description of the rule; it may be "". Message is what the tool says about this finding.
	Title   string `json:",omitempty"`
	Message string
	// File is the path from the root of the repository; "" if there is none, or if it is outside. Line and Last are its
	// first and last line, from 1; 0 if unknown. Column and LastColumn are from 1; 0 if unknown.
	File       string `json:",omitempty"`
	Line       int    `json:",omitempty"`
	Last       int    `json:",omitempty"`
	Column     int    `json:",omitempty"`
	LastColumn int    `json:",omitempty"`
	// Help is an address that begins with https://, with more about the rule; "" if there is none.
	Help string `json:",omitempty"`
	// Fingerprint is equal for the same finding in another commit, even if its line has moved. It has two hashes with @
	// between them, the second one of the file. Two findings of one commit can have the same fingerprint.
	Fingerprint string
}

// byWeight compares findings: the worst first, then by place. The order does not depend on the order in the output.
func byWeight(a, b Finding) int {
	return cmp.Or(cmp.Compare(slices.Index(Severities, a.Severity), slices.Index(Severities, b.Severity)), cmp.Compare(b.Rank, a.Rank),
		strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Rule, b.Rule), strings.Compare(a.Message, b.Message), strings.Compare(a.Fingerprint, b.Fingerprint), cmp.Compare(a.Column, b.Column))
}

// Tests is the content of a JUnit file.
type Tests struct {
	TestCounts
	// Suites are in the order of the file, and at most [MaxSuites]. MoreSuites is how many are left out.
	Suites     []Suite `json:",omitempty"`
	MoreSuites int     `json:",omitempty"`
	// Failed are the test cases with a failure or an error, in the order of the file, and at most [MaxFailed].
	Failed []Case `json:",omitempty"`
}

// TestCounts is the number of test cases by their result. Tests is the number of all test cases, including
// those that passed.
type TestCounts struct{ Tests, Failures, Errors, Skipped int }

func (c *TestCounts) add(d TestCounts) {
	c.Tests, c.Failures, c.Errors, c.Skipped = c.Tests+d.Tests, c.Failures+d.Failures, c.Errors+d.Errors, c.Skipped+d.Skipped
}

// A Suite is a test suite, without the suites inside of it.
type Suite struct {
	Name string
	TestCounts
	Time time.Duration `json:",omitempty"`
}

// A Case is a test case that did not pass.
type Case struct {
	Suite, Class, Name string
	// Error is set if the test could not be carried out. Otherwise its assertion failed.
	Error   bool `json:",omitempty"`
	Message string
	// File is the path from the root of the repository, and Line its line from 1; "" and 0 if they are unknown.
	File string `json:",omitempty"`
	Line int    `json:",omitempty"`
}

// Cost is the content of infracost's JSON: what the projects in it cost in a month.
type Cost struct {
	Currency string
	// After is the sum of all projects. Before is the sum before the change; nil if the output has no costs from before.
	Before *Amount `json:",omitempty"`
	After  Amount
	// Projects are the projects with the largest differences, and at most [MaxCosts]. MoreProjects is how many are left out.
	Projects     []ProjectCost `json:",omitempty"`
	MoreProjects int           `json:",omitempty"`
	// Unsupported is the number of resources whose price infracost does not know.
	Unsupported int `json:",omitempty"`
}

// Increase returns by how much the costs of a month rise. It is negative if they fall. known is false if the output has
// no costs from before.
func (c Cost) Increase() (increase Amount, known bool) { return increaseOf(c.Before, c.After) }

// A ProjectCost is what one project of infracost costs in a month.
type ProjectCost struct {
	Name   string
	Before *Amount `json:",omitempty"` // nil if unknown
	After  Amount
	// Resources are those with the largest differences, and at most [MaxCosts]. MoreResources is how many are left out.
	Resources     []ResourceCost `json:",omitempty"`
	MoreResources int            `json:",omitempty"`
}

// Increase is like [Cost.Increase], for one project.
func (p ProjectCost) Increase() (increase Amount, known bool) { return increaseOf(p.Before, p.After) }

func increaseOf(before *Amount, after Amount) (Amount, bool) {
	if before == nil {
		return Amount{}, false
	}
	return after.Minus(*before), true
}

// A ResourceCost is the difference in the monthly cost of a resource.
type ResourceCost struct {
	Name     string
	Increase Amount
}
