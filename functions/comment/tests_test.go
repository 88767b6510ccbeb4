package comment

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// TestTestChecks holds what the check of tests looks like, with names and messages that try to be more than a text.
func TestTestChecks(t *testing.T) {
	t.Parallel()
	of := func(x Tests) *Tests {
		x.Project = "network"
		x = x.Within()
		return &x
	}
	passed := of(Tests{Count: TestCount{Pass: 2}, Runs: []TestRun{{File: "main.tftest.hcl", Name: "plan", Result: "pass"}, {File: "tests/more.tftest.hcl", Name: "apply", Result: "pass"}}})
	failed := of(Tests{
		Count: TestCount{Pass: 1, Fail: 1, Error: 1, Skip: 1},
		Runs: []TestRun{
			{File: "a.tftest.hcl", Name: "one", Result: "pass"}, {File: "a.tftest.hcl", Name: "two", Result: "fail", Failed: 2},
			{File: "x|y`@acme/sre`<img src=x>.tftest.hcl", Name: "three", Result: "error"}, {File: "a.tftest.hcl", Name: strings.Repeat("long", 100), Result: "skip"},
		},
		Report: "```\nError: Test assertion failed\n\n  on a.tftest.hcl line 3\n```\n",
	})
	many := Tests{Count: TestCount{Fail: 300}, Report: "```\nError: no\n```\n", MoreNotes: 50}
	for i := range 300 {
		many.Runs = append(many.Runs, TestRun{File: "a.tftest.hcl", Name: fmt.Sprint("r", i), Result: "fail", Failed: 1})
		many.Notes = append(many.Notes, LineNote{Path: "a", Title: "no"})
	}
	var b strings.Builder
	for _, c := range []struct {
		name string
		TestCheck
	}{
		{"running", TestCheck{}},
		{"passed", TestCheck{Result: passed}},
		{"failed", TestCheck{Result: failed}},
		{"many failed", TestCheck{Result: of(many)}},
		{"broken", TestCheck{Result: of(Tests{Broken: true, Report: "```\nError: Unsupported argument\n```\n"})}},
		{"none", TestCheck{Result: of(Tests{})}},
		{"cancelled", TestCheck{Result: passed, Ended: "Another commit is the head."}},
		{"failed on another pull request", TestCheck{Result: passed, Others: "#8"}},
	} {
		c.Project, c.Dir = "network", "live/network"
		fmt.Fprintf(&b, "===== %s\n%s\n-----\n%s-----\n%s\n", c.name, c.Title(255), c.Summary(65535), c.Text(65535))
		for _, text := range []string{c.Title(40), c.Summary(300), c.Text(100)} {
			if len(text) > 300 {
				t.Errorf("%s: %q is too long", c.name, text)
			}
		}
	}
	golden.File(t, "testdata/tests.md", b.String())
	hostile := Tests{Report: strings.Repeat("<", 60_000)}
	for range 1000 {
		hostile.Runs = append(hostile.Runs, TestRun{File: strings.Repeat("<", 1000), Name: strings.Repeat("<", 1000), Result: "fail"})
		hostile.Notes = append(hostile.Notes, LineNote{Path: strings.Repeat("<", 1000), Title: strings.Repeat("<", 1000), Message: strings.Repeat("<", 1000)})
	}
	if got := of(hostile); encodedSize(got) > 350_000 || len(got.Notes)+got.MoreNotes != 1000 {
		t.Errorf("%d bytes in a record, with %d notes, and %d left out", encodedSize(got), len(got.Notes), got.MoreNotes)
	}
	got := of(many)
	if len(got.Runs) != MaxTestRuns || len(got.Notes) != MaxTestNotes || got.MoreNotes != 250 || got.Notes[0].Line != 1 || got.Notes[0].Last != 1 {
		t.Errorf("%d runs, %d notes and %d more, %+v", len(got.Runs), len(got.Notes), got.MoreNotes, got.Notes[0])
	}
}
