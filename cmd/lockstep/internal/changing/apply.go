package changing

import (
	"os"
	"strings"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/functions/operation"
)

var Apply = cli.Command{Name: "apply", Synopsis: "Make and apply a plan, or apply a saved one", Run: func(a *cli.App, args []string) int {
	return applyMain(a, "apply", args, false)
}}

// applyMain runs the commands apply and destroy.
func applyMain(a *cli.App, name string, args []string, destroy bool) int {
	var o operationFlags
	var approve bool
	f := a.NewFlags(name, name+" [OPTIONS] [PLAN]")
	operationOptions(f, &o)
	f.BoolVar(&approve, "auto-approve", false, "do not ask for approval before applying")
	if destroy {
		f.BoolVar(&approve, "force", false, "")
	}
	// an option of OpenTofu; it has no effect, because here objects that are left behind are never an error
	f.Bool("suppress-forget-errors", false, "")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	spareMemory()
	o.destroyCommand = destroy
	o.destroy = o.destroy || destroy
	if f.NArg() > 1 {
		return f.Refuse(cli.TooMany, "The command %s takes at most one saved plan.", name)
	}
	saved := f.NArg() == 1
	if o.json && !saved && !approve {
		return f.Refuse("Plan file or auto-approve required", "The command %s -json cannot ask for approval. Add -auto-approve, or name a saved plan.", name)
	}
	v := a.View(o.json)
	defer v.Close()
	var plan *plans.Plan
	var op *opening.Operation
	var ds diags.Diagnostics
	if saved {
		v.Diagnostics(o.deprecated())
		plan, op, ds = openSaved(a, f.Arg(0), &o)
	} else {
		plan, op, ds = makePlan(a, &o, v, true)
	}
	defer op.Close()
	if plan == nil || ds.HasErrors() {
		if plan != nil && !saved {
			v.Plan(plan, op.Config, op.Schemas)
		}
		v.Diagnostics(append(ds, op.Unlock(a.Ctx)...))
		return 1
	}
	if saved {
		v.Saved(plan)
		if text := op.Continuing(plan); text != "" {
			v.Say("\n%s\n", a.Print().Bold(text))
		}
	} else {
		v.Plan(plan, op.Config, op.Schemas)
		if plan.Applyable && !approve {
			v.Diagnostics(ds) // the user decides with them in view
			ds = nil
			if code := askApproval(a, plan, &o, v); code != 0 {
				v.Diagnostics(op.Unlock(a.Ctx))
				return code
			}
		}
	}
	return carryOut(a, plan, op, &o, v, ds.WithoutChecks())
}

// openSaved opens the saved plan in the file path, and checks that the plan can still be applied. As in
// Terraform, options about planning must be valid, but have no effect.
func openSaved(a *cli.App, path string, o *operationFlags) (*plans.Plan, *opening.Operation, diags.Diagnostics) {
	path = a.Path(path)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, opening.New(a), diags.Errorf(nil, "Not a saved plan", "%s is a directory. To work in another directory, run lockstep -chdir=DIR apply.", path)
	}
	if ds := o.checkSaved(path); ds.HasErrors() {
		return nil, opening.New(a), ds
	}
	plan, op, ds := opening.OpenPlan(a, path, o.locks, o.paths, "OperationTypeApply")
	if ds.HasErrors() {
		return plan, op, ds
	}
	if plan.Errored {
		return plan, op, append(ds, diags.Errorf(nil, "Cannot apply incomplete plan",
			"Lockstep encountered an error when generating this plan, so it cannot be applied. Fix the error, and plan again.")...)
	}
	if ds = append(ds, op.VariablesFor(plan, o.vars)...); ds.HasErrors() {
		return plan, op, ds
	}
	return plan, op, append(ds, op.Stale(plan)...)
}

// askApproval asks the user for approval. It returns 0 for yes, otherwise the exit code.
func askApproval(a *cli.App, p *plans.Plan, o *operationFlags, v cli.View) int {
	if !a.MayAsk(o.input) {
		v.Diagnostics(diags.Errorf(nil, "Approval is needed",
			"Lockstep must ask for approval, but -input=false forbids questions. Add -auto-approve, or save the plan with `lockstep plan -out=FILE` and apply that file."))
		return 1
	}
	question, deed := "Do you want to perform these actions?", "Apply"
	if p.Mode == plans.DestroyMode {
		question, deed = "Do you really want to destroy all resources?", "Destroy"
	}
	v.Say("\n%s\n  Only 'yes' will be accepted to approve.\n\n  Enter a value: ", a.Print().Bold(question))
	line, err := a.ReadLine()
	v.Say("\n")
	switch {
	case err != nil:
		v.Diagnostics(diags.Errorf(nil, "Approval could not be read", "Nothing was changed: %s.", err))
		return 1
	case strings.TrimSpace(line) != "yes":
		v.Say("%s cancelled.\n", deed)
		return 1
	}
	return 0
}

// carryOut applies a plan. It saves the state at the end and in between. ds are the diagnostics so far. It
// returns the exit code.
func carryOut(a *cli.App, plan *plans.Plan, op *opening.Operation, o *operationFlags, v cli.View, ds diags.Diagnostics) int {
	run := op.RunWith(o.parallelism, v)
	run.LocalExec = localExecOf(a)
	timed := keepTime(run.Events)
	defer timed.stop()
	run.Events = timed.event
	spareForApply(len(plan.Changes))
	done, more := op.Apply(a.Ctx, run, plan, engine.ApplyOptions{
		SaveSoon: op.Settings.Type == "local", // where a save costs no request
	})
	ds = append(append(ds, more...), operation.Overload(more, plan, func(addrs.Provider) int { return o.parallelism }, func(addrs.Provider) string {
		return "Apply again, one change at a time:\n  lockstep apply -parallelism=1"
	})...)
	if done.Resumable {
		ds = append(ds, diags.Warningf(nil, "The apply can be continued", "Apply the same plan file again to make the remaining changes. You can also make a new plan: it starts from the current state.")...)
	}
	if done.Unsaved {
		ds = append(ds, op.Rescue(done.State)...)
	}
	if a.Ctx.Err() != nil && !ds.HasErrors() { // the interrupt came during the last action
		ds = append(ds, diags.Errorf(nil, "Apply was interrupted", "The last action had already started. All planned changes are made and in the state.")...)
	}
	if !ds.HasErrors() {
		ds = append(ds, op.LeaveState()...)
	}
	if left := unsettled(op, plan.Targets); len(left) > 0 && plan.Mode == plans.DestroyMode {
		ds = append(ds, diags.Errorf(nil, "Not everything was destroyed",
			"An earlier apply was interrupted while it created %s or invoked their actions. If these objects exist, they were not destroyed. Run \"lockstep recover\" and decide about each object, then destroy again.", names(left))...)
	} else if len(left) > 0 {
		ds = append(ds, diags.Errorf(nil, "Not everything was applied",
			"An earlier apply was interrupted while it created %s or invoked their actions. Lockstep planned neither these objects nor anything that depends on them. Run \"lockstep recover\" and decide about each object, then plan again.", names(left))...)
	}
	failed := ds.HasErrors()
	n := done.Tally.Done()
	if !failed { // imported and forgotten objects have no events, so they are counted in the plan
		planned := plan.Counts()
		n.Import, n.Forget = planned.Import, planned.Forget
	}
	ds = append(ds, op.Unlock(a.Ctx)...)
	v.Diagnostics(ds.Distinct())
	v.Applied(cli.Outcome{State: done.State, Counts: n, Destroy: o.destroyCommand, Failed: failed, StateOut: o.paths.StateOut})
	if ds.HasErrors() {
		return 1
	}
	return 0
}
