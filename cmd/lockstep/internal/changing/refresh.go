package changing

import (
	"context"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// Refresh is the command refresh. It stores the refreshed state and its outputs without applying anything.
var Refresh = cli.Command{Name: "refresh", Synopsis: "Update the state to match the real objects", Run: func(a *cli.App, args []string) int {
	o := operationFlags{}
	f := a.NewFlags("refresh", "refresh [OPTIONS]")
	refreshing(f, &o)
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if code, ok := f.NoArguments(); !ok {
		return code
	}
	v := a.View(o.json)
	defer v.Close()
	plan, op, ds := makePlan(a, &o, v, true)
	defer op.Close()
	if plan == nil || ds.HasErrors() {
		v.Diagnostics(append(ds, op.Unlock(a.Ctx)...))
		return 1
	}
	if !plan.PrevRunState.HasManaged() {
		ds = append(ds, diags.Warningf(nil, "Empty or non-existent state",
			"There is nothing in the state that could be refreshed.")...)
	}
	if err := op.State.Write(context.WithoutCancel(a.Ctx), plan.PriorState); err != nil {
		ds = append(append(ds, diags.FromError("Error saving the state", err)...), op.Rescue(plan.PriorState)...)
	}
	if !ds.HasErrors() {
		ds = append(ds, op.LeaveState()...)
	}
	ds = append(ds, op.Unlock(a.Ctx)...)
	v.Diagnostics(ds)
	if ds.HasErrors() {
		return 1
	}
	v.Outputs(plan.PriorState)
	return 0
}}

// refreshing adds the options of the command refresh.
func refreshing(f *cli.Flags, o *operationFlags) {
	f.Vars(&o.vars)
	f.Locking(&o.locks)
	f.State(&o.paths)
	f.Input(&o.input)
	partial(f, &o.targeting)
	f.IntVar(&o.parallelism, "parallelism", 10, "the number of concurrent provider calls; 0 means 10")
	f.JsonStream(&o.json)
	f.Concise()
	f.CompactWarnings()
}
