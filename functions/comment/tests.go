package comment

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// Limits of [Tests]. The result is kept in a record, which has room for 400 KB.
const (
	MaxTestRuns  = 100
	MaxTestNotes = 100

	maxTestReport = 30_000  // bytes
	maxTestName   = 100     // bytes of the name of a run, and of its file
	maxTestText   = 1_000   // bytes of a text of a note
	maxTests      = 250_000 // bytes of the whole, as JSON
)

// Within shortens the result to the limits of [Tests]. The result comes from the process that ran the tests,
// and can contain anything.
func (t Tests) Within() Tests {
	t.Report = markdown.Cut(t.Report, maxTestReport)
	if more := len(t.Notes) - MaxTestNotes; more > 0 {
		t.Notes, t.MoreNotes = t.Notes[:MaxTestNotes], t.MoreNotes+more
	}
	t.Runs = t.Runs[:min(len(t.Runs), MaxTestRuns)]
	for i, r := range t.Runs {
		t.Runs[i].File, t.Runs[i].Name, t.Runs[i].Result = cutTitle(r.File, maxTestName), cutTitle(r.Name, maxTestName), cutTitle(r.Result, maxTestName)
	}
	for i, n := range t.Notes {
		t.Notes[i] = n.within(maxTestText)
	}
	for len(t.Notes) > 0 && encodedSize(t) > maxTests {
		left := len(t.Notes) / 2
		t.Notes, t.MoreNotes = t.Notes[:left], t.MoreNotes+len(t.Notes)-left
	}
	return t
}

// encodedSize returns the size of a value in a record. A character may take 6 bytes there.
func encodedSize(v any) int {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err.Error()) // these values are texts and numbers
	}
	return len(data)
}

// Tests is the result of the tests of a project. Its texts come from the pull request, without secrets.
type Tests struct {
	Project string
	// Count is the number of test runs by result. It includes runs that Runs leaves out.
	Count TestCount
	// Runs are the runs that are shown to people, in their order. If there are more than [MaxTestRuns], runs
	// that did not pass come first, and the rest are left out.
	Runs []TestRun `json:",omitempty"`
	// Broken is set if the tests did not run, or did not run to the end. Report says why.
	Broken bool `json:",omitempty"`
	// Report has the errors of the tests, in Markdown.
	Report string `json:",omitempty"`
	// Notes are failures with their places in the repository. MoreNotes is how many are left out.
	Notes     []LineNote `json:",omitempty"`
	MoreNotes int        `json:",omitempty"`
}

// A TestCount is the number of test runs with each result.
type TestCount struct{ Pass, Fail, Error, Skip int }

// All returns the number of all test runs.
func (c TestCount) All() int { return c.Pass + c.Fail + c.Error + c.Skip }

// A TestRun is the result of one run block of a test file.
type TestRun struct {
	File, Name string
	Result     string // pass, fail, error or skip
	Failed     int    `json:",omitempty"` // failed assertions
}

// Passed reports whether all test runs passed.
func (t Tests) Passed() bool { return !t.Broken && t.Count.Pass == t.Count.All() }

// None reports whether the project has no tests.
func (t Tests) None() bool { return !t.Broken && t.Count.All() == 0 }

// A TestCheck is the content of the check run for the tests of a project.
type TestCheck struct {
	Project string
	Dir     string // of the project
	// Result is the result of the tests; nil while the tests run.
	Result *Tests
	// Ended is the reason, in Markdown, why the result is no longer needed; "" if it is.
	Ended string
	// Others names another pull request with the same head commit whose tests failed, such as "#7".
	Others string
}

// Title returns the title of the check run, of at most limit bytes.
func (c TestCheck) Title(limit int) string {
	title := c.title()
	if c.Others != "" {
		title += " (failed on " + c.Others + ")"
	}
	return cutTitle(title, limit)
}

func (c TestCheck) title() string {
	switch r := c.Result; {
	case c.Ended != "":
		return "Cancelled"
	case r == nil:
		return "The tests are running"
	case r.Broken:
		return "The tests did not run to the end"
	case r.None():
		return "No tests"
	case r.Passed():
		return runsOf(r.Count.All()) + " passed"
	default:
		return fmt.Sprintf("%d of %s did not pass", r.Count.All()-r.Count.Pass, runsOf(r.Count.All()))
	}
}

func runsOf(n int) string {
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", n)
}

// Summary returns the first part of the check run's page, of at most limit bytes, in Markdown.
func (c TestCheck) Summary(limit int) string {
	var b strings.Builder
	name, local := markdown.Code(c.Project), markdown.Code("lockstep test")
	switch r := c.Result; {
	case c.Ended != "":
		fmt.Fprintf(&b, "%s\n", c.Ended)
	case r == nil:
		fmt.Fprintf(&b, "Lockstep is running the tests of %s.\n", name)
	case r.Broken:
		fmt.Fprintf(&b, "**The tests of %s did not run to the end.** The reason is below. Fix it and push, or comment %s to run the tests again.\n", name, markdown.Code("lockstep plan -p "+c.Project))
	case r.None():
		fmt.Fprintf(&b, "The project %s has no test files. Lockstep looks for %s in %s, and in %s there. Add tests, or remove %s from %s.\n",
			name, markdown.Code("*.tftest.hcl"), markdown.Code(c.Dir), markdown.Code("tests/"), markdown.Code("test = true"), markdown.Code("lockstep.hcl"))
	case r.Passed():
		fmt.Fprintf(&b, "All tests of %s passed.\n", name)
	default:
		fmt.Fprintf(&b, "**Tests of %s failed.** Fix the configuration or the tests, and push. To see the failures on your machine, run %s in %s.\n", name, local, markdown.Code(c.Dir))
	}
	if c.Others != "" {
		fmt.Fprintf(&b, "\nPull request %s has the same commit, and its tests failed. GitHub shows one check for both, with the worse result. Fix the tests there, or close that pull request.\n", c.Others)
	}
	if c.Result != nil && c.Ended == "" {
		b.WriteString(c.Result.table())
	}
	fmt.Fprintf(&b, "\nLockstep runs tests without credentials, and with mocks only. This check blocks an apply only if %s requires it.\n", markdown.Code("lockstep.hcl"))
	return markdown.Cut(b.String(), limit)
}

// table returns the runs as a table, with those that failed first; "" if there are none.
func (t Tests) table() string {
	if len(t.Runs) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n| result | run | file |\n|---|---|---|\n")
	for _, r := range slices.SortedStableFunc(slices.Values(t.Runs), func(a, b TestRun) int { return cmp.Compare(a.rank(), b.rank()) }) {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.result(), cell(r.Name), cell(r.File))
	}
	if more := t.Count.All() - len(t.Runs); more > 0 {
		fmt.Fprintf(&b, "\n%s more are not shown.\n", runsOf(more))
	}
	return b.String()
}

// rank returns the place of a run in a table: failed runs have 0, skipped ones 1, and passed ones 2.
func (r TestRun) rank() int { return max(0, slices.Index([]string{"", "skip", "pass"}, r.Result)) }

// result returns the result of a run in words.
func (r TestRun) result() string {
	switch {
	case r.Failed == 1:
		return "1 assertion failed"
	case r.Failed > 1:
		return fmt.Sprintf("%d assertions failed", r.Failed)
	case r.Result == "pass":
		return "passed"
	case r.Result == "skip":
		return "skipped"
	}
	return "error"
}

// cell shortens and escapes a text for a cell of a table.
func cell(text string) string {
	return strings.ReplaceAll(markdown.Code(cutTitle(text, maxTestName)), "|", `\|`)
}

// Text returns the second part of the check run's page, of at most limit bytes, in Markdown.
func (c TestCheck) Text(limit int) string {
	if c.Result == nil || c.Ended != "" {
		return ""
	}
	text := c.Result.Report
	if n := c.Result.MoreNotes; n > 0 {
		text = fmt.Sprintf("%d more problems have no annotation.\n\n", n) + text
	}
	return markdown.Cut(text, limit)
}
