package cli

import (
	"fmt"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/causes"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/engine/render"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// textView writes text for people.
type textView struct {
	a       *App
	mu      sync.Mutex
	started map[string]time.Time
	listed  []events.Query // objects of a query that are not written yet
}

func (v *textView) Say(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	fmt.Fprintf(v.a.Out, format, args...)
}

func (v *textView) Step(_ render.InitCode, format string, args ...any) { v.Say(format, args...) }

func (v *textView) Installs(e install.Event) { v.Say("%s\n", e) }

func (v *textView) Event(e events.Event) {
	if v.a.concise {
		return
	}
	if line := v.a.Print().Event(e); line != "" {
		v.Say("%s\n", line)
	}
}

func (v *textView) Diagnostics(ds diags.Diagnostics) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.a.write(v.a.Out, ds)
}

func (v *textView) Causes([]causes.Cause) {}

func (v *textView) Plan(p *plans.Plan, cfg *config.Config, schemas func(addrs.Provider) *schema.Provider) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.a.Print().Plan(v.a.Out, p, cfg, schemas)
}

func (v *textView) Saved(*plans.Plan) {} // it was shown when it was saved

func (v *textView) Applied(o Outcome) {
	if o.Failed {
		return
	}
	n := o.Counts
	text := render.AppliedText(n)
	if o.Destroy {
		text = render.DestroyedText(n)
	}
	v.Say("\n%s\n", v.a.Print().Bold(text))
	if o.StateOut != "" && n.Add+n.Change > 0 {
		v.Say("\nThe new state is in the file below. Keep it: it is the only record of the new objects.\n\nState path: %s\n", o.StateOut)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if !o.Destroy && o.State.HasOutputs() {
		fmt.Fprint(v.a.Out, "\nOutputs:\n\n")
		v.a.Print().Outputs(v.a.Out, o.State)
	}
}

func (v *textView) Outputs(s *states.State) {
	if s.HasOutputs() {
		v.Say("\nOutputs:\n\n")
		v.a.Print().Outputs(v.a.Out, s)
	}
}

func (v *textView) Close() {}
