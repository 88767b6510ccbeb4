package render

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/config/testfiles"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
)

// testStatus returns the word for a status. The word for an error is the same as for a failure.
func testStatus(s events.TestStatus) string {
	if s == events.TestError {
		return "fail"
	}
	return s.String()
}

// TestStatus returns the coloured word for a status.
func (p *Printer) TestStatus(s events.TestStatus) string {
	switch word := testStatus(s); s {
	case events.TestPass:
		return p.in(green, word)
	case events.TestFail, events.TestError:
		return p.in(red, word)
	default:
		return p.in(gray, word)
	}
}

// TestSummary is the number of runs by status.
type TestSummary struct {
	Status  string `json:"status"`
	Passed  int    `json:"passed"`
	Failed  int    `json:"failed"`
	Errored int    `json:"errored"`
	Skipped int    `json:"skipped"`
}

// SummaryOfTests counts the runs by status. A test without files passes.
func SummaryOfTests(list []events.TestFileResult) TestSummary {
	out := TestSummary{Status: max(events.TestPass, events.TestOutcome(list)).String()}
	for _, f := range list {
		for _, r := range f.Runs {
			switch r.Status {
			case events.TestPass:
				out.Passed++
			case events.TestFail:
				out.Failed++
			case events.TestError:
				out.Errored++
			default:
				out.Skipped++
			}
		}
	}
	return out
}

// Verdict returns the first word of the summary.
func (s TestSummary) Verdict() string {
	if s.Status == events.TestPass.String() {
		return "Success!"
	}
	return "Failure!"
}

// Counts returns the rest of the summary: the numbers of runs.
func (s TestSummary) Counts() string {
	text := fmt.Sprintf("%d passed, %d failed", s.Passed, s.Failed+s.Errored)
	if s.Skipped > 0 {
		text += fmt.Sprintf(", %d skipped", s.Skipped)
	}
	return text + "."
}

// TestSummary returns the last line of a test's output.
func (p *Printer) TestSummary(s TestSummary) string {
	color := green
	if s.Verdict() != "Success!" {
		color = red
	}
	return p.in(color, s.Verdict()) + " " + s.Counts()
}

// TestsMessage returns the message with the names of the files and runs that were found.
func TestsMessage(list []*testfiles.File) Message {
	all, runs := map[string][]string{}, 0
	for _, f := range list {
		names := []string{}
		for _, r := range f.Runs {
			names = append(names, r.Name)
		}
		all[f.Name], runs = names, runs+len(names)
	}
	m := message("test_abstract", fmt.Sprintf("Found %s and %s", plural(len(list), "file"), plural(runs, "run block")))
	m.TestAbstract = all
	return m
}

func plural(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}

type testFileMember struct {
	Path     string `json:"path"`
	Progress string `json:"progress"`
	Status   string `json:"status,omitempty"`
}

type testRunMember struct {
	Path     string `json:"path"`
	Run      string `json:"run"`
	Progress string `json:"progress"`
	Elapsed  *int64 `json:"elapsed,omitempty"` // milliseconds
	Status   string `json:"status,omitempty"`
}

type testCleanupMember struct {
	FailedResources []testFailedMember `json:"failed_resources"`
}

type testFailedMember struct {
	Instance   string `json:"instance"`
	DeposedKey string `json:"deposed_key,omitempty"`
}

// TestMessages returns the messages about one step of a test, without its diagnostics. As in the stock tool,
// states and plans in these messages contain sensitive values, with masks of their paths.
func TestMessages(e events.Test, schemas formats.Schemas) (out []Message) {
	add := func(kind, text string) *Message {
		m := message(kind, text)
		if m.TestFile = e.File.Name; e.Run != nil {
			m.TestRun = e.Run.Name
		}
		out = append(out, m)
		return &out[len(out)-1]
	}
	file := func(what, progress, status string) {
		add("test_file", e.File.Name+"... "+what).TestFileMember = &testFileMember{Path: e.File.Name, Progress: progress, Status: status}
	}
	run := func(what, progress, status string, elapsed *int64) {
		add("test_run", fmt.Sprintf("  %q... %s", e.Run.Name, what)).TestRunMember = &testRunMember{Path: e.File.Name, Run: e.Run.Name, Progress: progress, Status: status, Elapsed: elapsed}
	}
	ms := e.Elapsed.Milliseconds()
	switch e.Kind {
	case events.TestFileStarted:
		file("in progress", "starting", "")
	case events.TestFileTearingDown:
		file("tearing down", "teardown", "")
	case events.TestFileDone:
		file(testStatus(e.Status), "complete", e.Status.String())
	case events.TestRunStarted:
		run("in progress", "starting", "", &ms)
	case events.TestRunTearingDown:
		run("tearing down", "teardown", "", &ms)
	case events.TestRunDone:
		run(testStatus(e.Status), "complete", e.Status.String(), nil)
		if e.State != nil {
			if data, err := formats.State(e.State, schemas); err == nil {
				add("test_state", "-verbose flag enabled, printing state").TestState = stateMember(data)
			}
		}
		if e.Plan != nil {
			if data, err := formats.Plan(e.Plan, nil, schemas); err == nil {
				add("test_plan", "-verbose flag enabled, printing plan").TestPlan = planMember(data)
			}
		}
	case events.TestLeft:
		if len(e.Objects) > 0 {
			m := add("test_cleanup", fmt.Sprintf("Lockstep left some resources in state after executing %s/%s, they need to be cleaned up manually:", e.File.Name, e.Run.Name))
			m.Level, m.TestCleanup = "error", &testCleanupMember{}
			for _, o := range e.Objects {
				m.TestCleanup.FailedResources = append(m.TestCleanup.FailedResources, testFailedMember{o.Instance.String(), string(o.Deposed)})
			}
		}
	}
	return out
}

// stateMember renames the members of a state to the names that they have in the messages of `test -json`.
func stateMember(data []byte) map[string]json.RawMessage {
	var from struct {
		Version json.RawMessage `json:"format_version"`
		Values  struct {
			Outputs json.RawMessage `json:"outputs"`
			Root    json.RawMessage `json:"root_module"`
		} `json:"values"`
	}
	if json.Unmarshal(data, &from) != nil {
		return nil
	}
	return members("state_format_version", from.Version, "root_module", from.Values.Root, "root_module_outputs", from.Values.Outputs)
}

// planMember renames the members of a plan to the names that they have in the messages of `test -json`.
func planMember(data []byte) map[string]json.RawMessage {
	var from struct {
		Version  json.RawMessage `json:"format_version"`
		Outputs  json.RawMessage `json:"output_changes"`
		Changes  json.RawMessage `json:"resource_changes"`
		Drift    json.RawMessage `json:"resource_drift"`
		Relevant json.RawMessage `json:"relevant_attributes"`
	}
	if json.Unmarshal(data, &from) != nil {
		return nil
	}
	return members("plan_format_version", from.Version, "output_changes", from.Outputs, "resource_changes", from.Changes, "resource_drift", from.Drift, "relevant_attributes", from.Relevant)
}

// members returns an object made of the pairs of name and value. It leaves out nil values.
func members(pairs ...any) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for i := 0; i < len(pairs); i += 2 {
		if v := pairs[i+1].(json.RawMessage); v != nil {
			out[pairs[i].(string)] = v
		}
	}
	return out
}

// TestSummaryMessage returns the last message about tests: the summary.
func TestSummaryMessage(s TestSummary) Message {
	m := message("test_summary", s.Verdict()+" "+s.Counts())
	m.TestSummary = &s
	return m
}

// OneLine returns a name for a line of text. A name with characters that would change the text around it is
// quoted.
func OneLine(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return hidden(r) || r == '\n' || r == '\t' }) {
		return strconv.Quote(name)
	}
	return name
}

// Coverage returns a text about coverage: for each kind of object, how many objects tests have reached, and
// the names of those that tests have not reached.
func Coverage(c events.TestCoverage) string {
	var b strings.Builder
	for _, k := range []struct {
		word, why string
		objects   events.TestCovered
	}{
		{"resources", "no run has an instance of", c.Resources},
		{"outputs", "no assertion refers to", c.Outputs},
		{"objects with conditions", "no run has evaluated the conditions of", c.Checks},
	} {
		fmt.Fprintf(&b, "  %d of %d %s\n", k.objects.All-len(k.objects.Missing), k.objects.All, k.word)
		for _, x := range k.objects.Missing {
			fmt.Fprintf(&b, "    - %s %s\n", k.why, x)
		}
	}
	return b.String()
}

// TestCoverageMessage returns the message with the coverage of tests. The stock tool has no such message.
func TestCoverageMessage(c events.TestCoverage) Message {
	m := message("test_coverage", "Coverage:\n"+Coverage(c))
	m.TestCoverage = &c
	return m
}
