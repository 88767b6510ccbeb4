package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

var applyCommand = command{name: "apply", synopsis: "Make and carry out a plan, or carry out a saved one", main: true, run: func(a *app, args []string) int {
	return a.applyMain("apply", args, false)
}}

var destroyCommand = command{name: "destroy", synopsis: "Destroy everything that is managed here", main: true, run: func(a *app, args []string) int {
	return a.applyMain("destroy", args, true)
}}

// applyMain is apply and destroy.
func (a *app) applyMain(name string, args []string, destroy bool) int {
	var o operationFlags
	var approve bool
	f := a.newFlags(name, name+" [OPTIONS] [PLAN]")
	f.operation(&o)
	f.BoolVar(&approve, "auto-approve", false, "do not ask before applying")
	if destroy {
		f.BoolVar(&approve, "force", false, "")
	}
	if code, ok := f.parse(args); !ok {
		return code
	}
	spareMemory()
	o.destroyCommand = destroy
	o.destroy = o.destroy || destroy
	if f.NArg() > 1 {
		return f.refuse(tooMany, "%s takes at most one saved plan", name)
	}
	saved := f.NArg() == 1
	if o.json && !saved && !approve {
		return f.refuse("Plan file or auto-approve required", "%s -json needs -auto-approve or a saved plan: nobody could be asked", name)
	}
	v := a.view(o.json)
	defer v.close()
	var plan *plans.Plan
	var op *operation
	var ds diags.Diagnostics
	if saved {
		v.diagnostics(o.deprecated())
		plan, op, ds = a.openSaved(f.Arg(0), &o)
	} else {
		plan, op, ds = a.plan(&o, v, true)
	}
	defer op.close()
	if plan == nil || ds.HasErrors() {
		if plan != nil && !saved {
			v.plan(plan, op, true)
		}
		v.diagnostics(append(ds, op.unlock()...))
		return 1
	}
	if saved {
		v.saved(plan)
	} else {
		v.plan(plan, op, true)
		if plan.Applyable && !approve {
			v.diagnostics(ds) // by which people decide
			ds = nil
			if code := a.ask(plan, &o, v); code != 0 {
				v.diagnostics(op.unlock())
				return code
			}
		}
	}
	return a.carryOut(plan, op, &o, v, ds.WithoutChecks())
}

// openSaved opens a saved plan and checks that it still holds. The options that say what
// to plan must be right, but have no effect, as with the stock tool.
func (a *app) openSaved(path string, o *operationFlags) (*plans.Plan, *operation, diags.Diagnostics) {
	path = a.path(path)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, &operation{a: a}, diags.Errorf(nil, "Not a saved plan", "%s is a directory: use -chdir to work in another directory.", path)
	}
	if ds := o.fitSaved(path); ds.HasErrors() {
		return nil, &operation{a: a}, ds
	}
	plan, op, ds := a.openPlan(path, o.locks, o.paths, "OperationTypeApply")
	if ds.HasErrors() {
		return plan, op, ds
	}
	if plan.Errored {
		return plan, op, append(ds, diags.Errorf(nil, "Cannot apply incomplete plan",
			"Lockstep encountered an error when generating this plan, so it cannot be applied. Fix what was reported and plan again.")...)
	}
	if ds = append(ds, op.variablesFor(plan, o.vars)...); ds.HasErrors() {
		return plan, op, ds
	}
	return plan, op, append(ds, op.stale(plan)...)
}

// stale compares the state that a plan was made from with the present one.
func (o *operation) stale(p *plans.Plan) diags.Diagnostics {
	was, is := p.PrevRunState, o.state.Current
	why := ""
	switch {
	case was.Lineage == "" && !o.state.Exists():
		return nil
	case was.Lineage == "" && is.Lineage != "":
		why = "there was no state when it was made, and now there is one"
	case was.Lineage != is.Lineage && is.Lineage == "":
		why = "the state that it was made from is gone"
	case was.Lineage != is.Lineage:
		why = "the state is not the one that it was made from"
	case was.Serial != is.Serial:
		why = fmt.Sprintf("the state has changed since: it was at serial %d, and is at %d now", was.Serial, is.Serial)
	default:
		return nil
	}
	return diags.Errorf(nil, "Saved plan is stale",
		"The given plan can no longer be applied, because %s. Make a new plan, look at it, and apply that.", why)
}

// ask asks a person for approval. It returns 0 for yes.
func (a *app) ask(p *plans.Plan, o *operationFlags, v view) int {
	if !a.mayAsk(o.input) {
		v.diagnostics(diags.Errorf(nil, "Approval is needed",
			"The plan has to be approved, but -input=false says not to ask. Use -auto-approve, or save the plan with `lockstep plan -out=FILE` and apply that file."))
		return 1
	}
	question, deed := "Do you want to perform these actions?", "Apply"
	if p.Mode == plans.DestroyMode {
		question, deed = "Do you really want to destroy all resources?", "Destroy"
	}
	v.say("\n%s\n  Only 'yes' will be accepted to approve.\n\n  Enter a value: ", a.print().Bold(question))
	line, err := a.readLine()
	v.say("\n")
	switch {
	case err != nil:
		v.diagnostics(diags.Errorf(nil, "Approval could not be read", "Nothing was changed: %s.", err))
		return 1
	case strings.TrimSpace(line) != "yes":
		v.say("%s cancelled.\n", deed)
		return 1
	}
	return 0
}

// carryOut applies a plan, saving the state on the way. ds is what there is to say so far.
func (a *app) carryOut(plan *plans.Plan, op *operation, o *operationFlags, v view, ds diags.Diagnostics) int {
	var n counter
	counting := countingView{v, &n}
	run := op.run(o.parallelism, counting)
	run.LocalExec = op.a.localExec
	timed := keepTime(run.Events)
	defer timed.stop()
	run.Events = timed.event
	lost := false
	spareForApply(len(plan.Changes))
	state, more := engine.Apply(a.ctx, run, plan, engine.ApplyOptions{
		SaveSoon: op.settings.Type == "local", // where a save costs no request
		Save: func(ctx context.Context, s *states.State) error {
			err := op.state.Write(ctx, s)
			lost = err != nil
			return err
		},
	})
	ds = append(ds, more...)
	if lost {
		ds = append(ds, op.rescue(state)...)
	}
	if !ds.HasErrors() {
		ds = append(ds, op.leaveState()...)
	}
	failed := ds.HasErrors()
	if !failed {
		for _, c := range plan.Changes {
			if c.Importing != nil {
				n.n.imported++
			}
			if c.Action == plans.Forget {
				n.n.forgotten++
			}
		}
	}
	ds = append(ds, op.unlock()...)
	v.diagnostics(ds.Distinct())
	v.applied(outcome{state: state, counts: n.n, destroy: o.destroyCommand, failed: failed, stateOut: o.paths.StateOut})
	if ds.HasErrors() {
		return 1
	}
	return 0
}

// countingView counts what was done while showing it.
type countingView struct {
	view
	n *counter
}

func (v countingView) event(e events.Event) { v.n.count(e); v.view.event(e) }

// rescue keeps a state that the backend did not take in a file.
func (o *operation) rescue(s *states.State) diags.Diagnostics {
	data, err := statefile.Write(o.state.Next(s))
	path := filepath.Join(o.dir.Path, "errored.tfstate")
	if err == nil {
		err = workdir.WriteFile(path, data, 0o600)
	}
	if err != nil {
		o.a.out.Write(data)
		return diags.Errorf(nil, "The state could not be kept anywhere",
			"Neither the backend nor the file errored.tfstate could take the new state (%s). It was written to standard output: keep it, and push it with \"lockstep state push\" once the backend works again.", err)
	}
	return diags.Errorf(nil, "The new state is in errored.tfstate",
		"The backend did not take the state that describes what exists now. It is in the file %s: once the backend works again, run \"lockstep state push errored.tfstate\". Do not apply before that.", path)
}
