package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/causes"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/engine/render"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// jsonView writes messages in Terraform's machine-readable UI format, for the option -json.
type jsonView struct {
	a   *App
	out io.Writer
	mu  sync.Mutex

	causes map[string][]render.Cause // of the next plan's changes, by object
}

func (v *jsonView) send(m render.Message) {
	if m.Changes != nil && v.a.Language() != language.Newest {
		m.Changes.Forget = 0 // Terraform has no such member
	}
	data, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("a UI message cannot be encoded: %v", err))
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.out.Write(append(data, '\n'))
}

func (v *jsonView) Event(e events.Event) {
	if m, ok := render.EventMessage(e); ok {
		v.send(m)
	}
}

func (v *jsonView) Diagnostics(ds diags.Diagnostics) {
	ds = v.a.wanted(ds)
	files := v.a.SourcesOf(ds)
	for _, d := range ds {
		v.send(render.DiagnosticMessage(d, files))
	}
}

func (v *jsonView) Causes(all []causes.Cause) {
	v.causes = map[string][]render.Cause{}
	for _, c := range render.Causes(all) {
		v.causes[c.Object] = append(v.causes[c.Object], c)
	}
}

func (v *jsonView) Plan(p *plans.Plan, _ *config.Config, _ func(addrs.Provider) *schema.Provider) {
	for _, c := range p.Drift {
		v.send(render.DriftMessage(c))
	}
	for _, c := range p.Changes {
		if m, ok := render.PlannedChangeMessage(c); ok {
			v.send(m.WithCauses(v.causes))
		}
	}
	for _, x := range p.Invocations {
		v.send(render.PlannedInvocationMessage(x))
	}
	v.send(render.PlanSummaryMessage(p))
	if len(p.Outputs) > 0 {
		v.send(render.PlannedOutputsMessage(p))
	}
}

// Saved sends the changes without no-ops, as Terraform does for a saved plan.
func (v *jsonView) Saved(p *plans.Plan) {
	for _, c := range p.Changes {
		if c.Action == plans.NoOp {
			continue
		}
		if m, ok := render.PlannedChangeMessage(c); ok {
			v.send(m)
		}
	}
}

func (v *jsonView) Applied(o Outcome) {
	operation := "apply"
	if o.Destroy {
		operation = "destroy"
	}
	if o.Failed {
		return
	}
	v.send(render.ChangeSummaryMessage(operation, o.Counts))
	if !o.Destroy {
		v.send(render.OutputsMessage(o.State))
	}
}

func (v *jsonView) Say(format string, args ...any) {
	if text := strings.TrimSpace(fmt.Sprintf(format, args...)); text != "" {
		v.send(render.LogMessage(text))
	}
}

func (v *jsonView) Step(code render.InitCode, format string, args ...any) {
	v.send(render.InitMessage(code, strings.TrimSpace(fmt.Sprintf(format, args...))))
}

func (v *jsonView) Installs(e install.Event) { v.send(render.LogMessage(e.Message())) }

func (v *jsonView) Outputs(s *states.State) { v.send(render.OutputsMessage(s)) }

func (v *jsonView) Close() {}
