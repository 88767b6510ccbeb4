package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/engine/render"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A view shows the progress and the results of plan, apply and the like: as text
// for people, or as the stream of JSON messages that -json asks for.
type view interface {
	event(events.Event)
	diagnostics(diags.Diagnostics)
	// plan shows a plan. applying says that it will be carried out at once.
	plan(p *plans.Plan, o *operation, applying bool)
	// saved tells of a saved plan that is going to be carried out.
	saved(p *plans.Plan)
	// applied shows what an apply did.
	applied(outcome)
	say(format string, args ...any)
	// step says what init is about.
	step(code render.InitCode, format string, args ...any)
	// installs tells of a provider that init installs.
	installs(install.Event)
	close()
}

// An outcome is what an apply did.
type outcome struct {
	state    *states.State
	counts   counts
	destroy  bool // it was asked to destroy, rather than to carry out a saved plan
	failed   bool
	stateOut string // of the option -state-out
}

// counts are the numbers of a change summary.
type counts struct{ add, change, remove, imported, forgotten int }

func (a *app) view(jsonStream bool) view {
	if jsonStream {
		v := &jsonView{a: a}
		v.send(render.VersionMessage(engine.LanguageVersion, version))
		return v
	}
	v := &textView{a: a, started: map[string]time.Time{}}
	return v
}

// counter counts what an apply completed, by its events.
type counter struct {
	mu sync.Mutex
	n  counts
}

// count takes note of an event.
func (c *counter) count(e events.Event) {
	if e.Kind != events.ApplyDone {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e.Action {
	case plans.Create:
		c.n.add++
	case plans.Update:
		c.n.change++
	case plans.Delete:
		c.n.remove++
	}
}

// jsonView writes Terraform's machine-readable UI messages.
type jsonView struct {
	a  *app
	mu sync.Mutex
}

func (v *jsonView) send(m render.Message) {
	data, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("a UI message cannot be encoded: %v", err))
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.a.out.Write(append(data, '\n'))
}

func (v *jsonView) event(e events.Event) {
	if m, ok := render.EventMessage(e); ok {
		v.send(m)
	}
}

func (v *jsonView) diagnostics(ds diags.Diagnostics) {
	files := v.a.sourcesOf(ds)
	for _, d := range ds {
		v.send(render.DiagnosticMessage(d, files))
	}
}

func (v *jsonView) plan(p *plans.Plan, _ *operation, _ bool) {
	for _, c := range p.Drift {
		v.send(render.DriftMessage(c))
	}
	for _, c := range p.Changes {
		if m, ok := render.PlannedChangeMessage(c); ok {
			v.send(m)
		}
	}
	add, change, destroy, imported, _ := render.Counts(p)
	v.send(render.ChangeSummaryMessage("plan", add, change, destroy, imported))
	if len(p.Outputs) > 0 {
		v.send(render.PlannedOutputsMessage(p))
	}
}

// saved tells of the changes alone, as the stream does: those that need doing.
func (v *jsonView) saved(p *plans.Plan) {
	for _, c := range p.Changes {
		if c.Action == plans.NoOp {
			continue
		}
		if m, ok := render.PlannedChangeMessage(c); ok {
			v.send(m)
		}
	}
}

func (v *jsonView) applied(o outcome) {
	operation := "apply"
	if o.destroy {
		operation = "destroy"
	}
	if o.failed {
		return
	}
	v.send(render.ChangeSummaryMessage(operation, o.counts.add, o.counts.change, o.counts.remove, o.counts.imported))
	if !o.destroy {
		v.send(render.OutputsMessage(o.state))
	}
}

func (v *jsonView) say(format string, args ...any) {
	if text := strings.TrimSpace(fmt.Sprintf(format, args...)); text != "" {
		v.send(render.LogMessage(text))
	}
}

func (v *jsonView) step(code render.InitCode, format string, args ...any) {
	v.send(render.InitMessage(code, strings.TrimSpace(fmt.Sprintf(format, args...))))
}

func (v *jsonView) installs(e install.Event) { v.send(render.LogMessage(e.Message())) }

func (v *jsonView) close() {}

// textView writes for people.
type textView struct {
	a       *app
	mu      sync.Mutex
	started map[string]time.Time
}

func (v *textView) say(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	fmt.Fprintf(v.a.out, format, args...)
}

func (v *textView) step(_ render.InitCode, format string, args ...any) { v.say(format, args...) }

func (v *textView) installs(e install.Event) { v.say("%s\n", e) }

func (v *textView) event(e events.Event) {
	if line := v.a.print().Event(e); line != "" {
		v.say("%s\n", line)
	}
}

func (v *textView) diagnostics(ds diags.Diagnostics) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.a.write(v.a.out, ds)
}

func (v *textView) plan(p *plans.Plan, o *operation, applying bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.a.print().Plan(v.a.out, p, o.cfg, o.schemas)
}

func (v *textView) saved(*plans.Plan) {} // whoever saved it has seen it

func (v *textView) applied(o outcome) {
	if o.failed {
		return
	}
	n := o.counts
	text := fmt.Sprintf("Apply complete! Resources: %d added, %d changed, %d destroyed.", n.add, n.change, n.remove)
	if n.imported > 0 {
		text = fmt.Sprintf("Apply complete! Resources: %d imported, %d added, %d changed, %d destroyed.", n.imported, n.add, n.change, n.remove)
	}
	if o.destroy {
		text = fmt.Sprintf("Destroy complete! Resources: %d destroyed.", n.remove)
	}
	v.say("\n%s\n", v.a.print().Bold(text))
	if o.stateOut != "" && n.add+n.change > 0 {
		v.say("\nThe new state is in the file below: keep it, as nothing else knows what was made.\n\nState path: %s\n", o.stateOut)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if !o.destroy && o.state.HasOutputs() {
		fmt.Fprint(v.a.out, "\nOutputs:\n\n")
		v.a.print().Outputs(v.a.out, o.state)
	}
}

func (v *textView) close() {}
