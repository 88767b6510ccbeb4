package main

import (
	"context"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/render"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// refreshCommand plans as `plan` does, and stores what planning has read, outputs
// included, without applying anything.
var refreshCommand = command{name: "refresh", synopsis: "Bring the state up to date with what exists", run: func(a *app, args []string) int {
	o := operationFlags{refresh: true}
	f := a.newFlags("refresh", "refresh [OPTIONS]")
	f.refreshing(&o)
	if code, ok := f.parse(args); !ok {
		return code
	}
	if code, ok := f.noArguments(); !ok {
		return code
	}
	v := a.view(o.json)
	defer v.close()
	plan, op, ds := a.plan(&o, v, true)
	defer op.close()
	if plan == nil || ds.HasErrors() {
		v.diagnostics(append(ds, op.unlock()...))
		return 1
	}
	if !plan.PrevRunState.HasManaged() {
		ds = append(ds, diags.Warningf(nil, "Empty or non-existent state",
			"There is nothing in the state that could be refreshed.")...)
	}
	if err := op.state.Write(context.WithoutCancel(a.ctx), plan.PriorState); err != nil {
		ds = append(append(ds, diags.FromError("Error saving the state", err)...), op.rescue(plan.PriorState)...)
	}
	if !ds.HasErrors() {
		ds = append(ds, op.leaveState()...)
	}
	ds = append(ds, op.unlock()...)
	v.diagnostics(ds)
	if ds.HasErrors() {
		return 1
	}
	showOutputs(v, plan.PriorState)
	return 0
}}

// refreshing are refresh's options.
func (f *flags) refreshing(o *operationFlags) {
	f.vars(&o.vars)
	f.locking(&o.locks)
	f.state(&o.paths)
	f.input(&o.input)
	f.partial(&o.part)
	f.IntVar(&o.parallelism, "parallelism", 10, "how many provider calls may be under way at once")
	f.jsonStream(&o.json)
	f.compactWarnings()
}

// showOutputs shows the outputs of a state, if there are any.
func showOutputs(v view, s *states.State) {
	switch v := v.(type) {
	case *jsonView:
		v.send(render.OutputsMessage(s))
	case *textView:
		if s.HasOutputs() {
			v.say("\nOutputs:\n\n")
			v.a.print().Outputs(v.a.out, s)
		}
	}
}
