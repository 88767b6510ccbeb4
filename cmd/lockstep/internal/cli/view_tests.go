package cli

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config/testfiles"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/render"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

func (v *textView) TestsFound([]*testfiles.File) {}

func (v *textView) Test(e events.Test, schemas func(addrs.Provider) *schema.Provider) {
	p, name := v.a.Print(), render.OneLine(e.File.Name)
	switch e.Kind {
	case events.TestFileStarted:
		v.Say("%s... in progress\n", name)
	case events.TestRunDone:
		v.Say("  run %q... %s\n", e.Run.Name, p.TestStatus(e.Status))
		v.testDetails(e, schemas)
	case events.TestFileTearingDown:
		v.Say("%s... tearing down\n", name)
	case events.TestFileDone:
		v.Say("%s... %s\n", name, p.TestStatus(e.Status))
	case events.TestLeft:
		fmt.Fprintf(v.a.Err, "Lockstep could not destroy everything that was made by %s/%s.\n", name, e.Run.Name)
		v.Diagnostics(e.Diagnostics)
		if len(e.Objects) > 0 {
			fmt.Fprintf(v.a.Err, "\nThese objects exist after %s/%s, and you need to destroy them by hand:\n", name, e.Run.Name)
			for _, o := range e.Objects {
				fmt.Fprintf(v.a.Err, "  - %s\n", o)
			}
		}
		return
	}
	v.Diagnostics(e.Diagnostics)
}

// testDetails shows the state or the plan of a test run, if the event has one.
func (v *textView) testDetails(e events.Test, schemas func(addrs.Provider) *schema.Provider) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case e.State != nil:
		fmt.Fprintln(v.a.Out)
		v.a.Print().State(v.a.Out, e.State, schemas)
		fmt.Fprintln(v.a.Out)
	case e.Plan != nil:
		fmt.Fprintln(v.a.Out)
		v.a.Print().Plan(v.a.Out, e.Plan, e.Config, schemas)
		fmt.Fprintln(v.a.Out)
	}
}

func (v *textView) TestsDone(list []events.TestFileResult) {
	v.Say("\n%s\n", v.a.Print().TestSummary(render.SummaryOfTests(list)))
}

func (v *jsonView) TestsFound(list []*testfiles.File) { v.send(render.TestsMessage(list)) }

func (v *jsonView) Test(e events.Test, schemas func(addrs.Provider) *schema.Provider) {
	for _, m := range render.TestMessages(e, schemas) {
		v.send(m)
	}
	v.testDiagnostics(e, e.Diagnostics)
}

// testDiagnostics sends diagnostics about a test file or a test run.
func (v *jsonView) testDiagnostics(e events.Test, ds diags.Diagnostics) {
	files := v.a.SourcesOf(ds)
	for _, d := range ds {
		m := render.DiagnosticMessage(d, files)
		m.TestFile = e.File.Name
		if e.Run != nil {
			m.TestRun = e.Run.Name
		}
		v.send(m)
	}
}

func (v *jsonView) TestsDone(list []events.TestFileResult) {
	v.send(render.TestSummaryMessage(render.SummaryOfTests(list)))
}

func (v *textView) TestCoverage(c events.TestCoverage) {
	v.Say("\nCoverage:\n%s", render.Coverage(c))
}

func (v *jsonView) TestCoverage(c events.TestCoverage) { v.send(render.TestCoverageMessage(c)) }
