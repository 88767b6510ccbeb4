package cli

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/causes"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/testfiles"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/engine/render"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// both returns a view that shows everything in v and also writes JSON messages to the file that -json-into
// names. Without that option it returns v.
func both(a *App, v View) View {
	if a.jsonInto == nil {
		return v
	}
	into := &jsonView{a: a, out: a.jsonInto}
	into.send(render.VersionMessage(a.Language().Release(), a.Version))
	return &views{v, into, a.jsonInto.Close}
}

// views are two views of the same command.
type views struct {
	View
	into  *jsonView
	close func() error
}

func (v *views) Event(e events.Event) {
	v.View.Event(e)
	v.into.Event(e)
}

func (v *views) Diagnostics(ds diags.Diagnostics) {
	v.View.Diagnostics(ds)
	v.into.Diagnostics(ds)
}

func (v *views) Plan(p *plans.Plan, cfg *config.Config, schemas func(addrs.Provider) *schema.Provider) {
	v.View.Plan(p, cfg, schemas)
	v.into.Plan(p, cfg, schemas)
}

func (v *views) Causes(all []causes.Cause) { v.into.Causes(all); v.View.Causes(all) }

func (v *views) Saved(p *plans.Plan) {
	v.View.Saved(p)
	v.into.Saved(p)
}

func (v *views) Applied(o Outcome) {
	v.View.Applied(o)
	v.into.Applied(o)
}

func (v *views) Outputs(s *states.State) {
	v.View.Outputs(s)
	v.into.Outputs(s)
}

func (v *views) TestsFound(list []*testfiles.File) {
	v.View.TestsFound(list)
	v.into.TestsFound(list)
}

func (v *views) Test(e events.Test, schemas func(addrs.Provider) *schema.Provider) {
	v.View.Test(e, schemas)
	v.into.Test(e, schemas)
}

func (v *views) TestCoverage(c events.TestCoverage) {
	v.View.TestCoverage(c)
	v.into.TestCoverage(c)
}

func (v *views) TestsDone(list []events.TestFileResult) {
	v.View.TestsDone(list)
	v.into.TestsDone(list)
}

func (v *views) Query(e events.Query) {
	v.View.Query(e)
	v.into.Query(e)
}

func (v *views) Say(format string, args ...any) {
	v.View.Say(format, args...)
	v.into.Say(format, args...)
}

func (v *views) Step(code render.InitCode, format string, args ...any) {
	v.View.Step(code, format, args...)
	v.into.Step(code, format, args...)
}

func (v *views) Installs(e install.Event) {
	v.View.Installs(e)
	v.into.Installs(e)
}

func (v *views) Close() {
	v.View.Close()
	v.close()
}
