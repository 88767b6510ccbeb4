package cli

import (
	"io"
	"time"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/causes"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/testfiles"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/engine/render"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A View shows the progress and the results of commands such as plan and apply: as text for people, or, with
// -json, as a stream of JSON messages.
type View interface {
	Event(events.Event)
	Diagnostics(diags.Diagnostics)
	// Plan shows a plan. It needs the configuration and the schemas with which the plan was made.
	Plan(p *plans.Plan, cfg *config.Config, schemas func(addrs.Provider) *schema.Provider)
	// Causes adds the causes of the changes to the plan that is shown next. Only JSON messages have them.
	Causes([]causes.Cause)
	// Saved shows the changes of a saved plan before it is applied.
	Saved(p *plans.Plan)
	// Applied shows the result of an apply.
	Applied(Outcome)
	// Outputs shows the outputs of a state.
	Outputs(*states.State)
	// TestsFound shows which test files will run, Test shows a step of a test, and TestsDone shows the result.
	TestsFound([]*testfiles.File)
	Test(e events.Test, schemas func(addrs.Provider) *schema.Provider)
	TestCoverage(events.TestCoverage)
	TestsDone([]events.TestFileResult)
	// Query shows a step of a query.
	Query(events.Query)
	Say(format string, args ...any)
	// Step reports a step of the command init.
	Step(code render.InitCode, format string, args ...any)
	// Installs shows an event of installing a provider.
	Installs(install.Event)
	Close()
}

// An Outcome is the result of an apply.
type Outcome struct {
	State    *states.State
	Counts   counting.Counts
	Destroy  bool // the command was destroy, rather than apply
	Failed   bool
	StateOut string // of the option -state-out
}

// Notify writes a note about an interrupt: to the stream of JSON messages if there is one, else to standard
// error. It may be called at any time.
func (a *App) Notify(text string) {
	if v := a.stream.Load(); v != nil {
		v.send(render.LogMessage(text))
		return
	}
	io.WriteString(a.Err, text)
}

// View returns the view for a command. jsonStream selects the stream of JSON messages.
func (a *App) View(jsonStream bool) View {
	if jsonStream {
		v := &jsonView{a: a, out: a.Out}
		v.send(render.VersionMessage(a.Language().Release(), a.Version))
		a.stream.Store(v)
		return both(a, v)
	}
	return both(a, &textView{a: a, started: map[string]time.Time{}})
}
