// Package changing has the commands that plan and apply: plan, apply, destroy, refresh, import. Each has its
// own file, and a row in the table of the main package.
//
// It does not know backends and the format of saved plans: package opening opens both. Start at [Plan].
package changing

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

var Plan = cli.Command{Name: "plan", Synopsis: "Show what an apply would change", Run: func(a *cli.App, args []string) int {
	var o operationFlags
	var out, since string
	var detailed bool
	f := a.NewFlags("plan", "plan [OPTIONS]")
	operationOptions(f, &o)
	f.StringVar(&out, "out", "", "save the plan in a file, for `lockstep apply FILE`")
	f.StringVar(&o.generate, "generate-config-out", "", "write the missing resource blocks of imports to this new file")
	f.StringVar(&since, "since", "", "with -json: add to each change the lines of your branch that cause it; give the branch that yours began from, such as origin/main")
	f.BoolVar(&detailed, "detailed-exitcode", false, "exit with 0 for no changes, 1 for errors, 2 for changes")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if code, ok := f.NoArguments(); !ok {
		return code
	}
	if since != "" && !o.json {
		return f.Refuse("The option -since needs -json", "Without -json, save the plan, and ask for the causes of a change: \"lockstep plan -out=tfplan\", then \"lockstep why -since=%s ADDRESS\".", since)
	}
	v := a.View(o.json)
	defer v.Close()
	plan, op, ds := makePlan(a, &o, v, false)
	defer op.Close()
	if plan != nil && out != "" {
		ds = append(ds, op.SavePlan(plan, a.Path(out))...)
	}
	if plan != nil && since != "" {
		all, err := opening.Causes(op, plan, o.vars, since)
		if err != nil {
			ds = append(ds, diags.FromError("The changed lines cannot be read", err)...)
		}
		v.Causes(all)
	}
	if plan != nil {
		v.Plan(plan, op.Config, op.Schemas)
	}
	v.Diagnostics(ds)
	if ds.HasErrors() {
		return 1
	}
	if plan.Applyable && !o.json && !a.InAutomation() {
		nextStep(a, v, out)
	}
	if detailed && (plan.Applyable || len(plan.Waiting) > 0) {
		return 2
	}
	return 0
}}

// nextStep suggests the next command after a plan. out is the file of the saved plan; "" if it was not saved.
func nextStep(a *cli.App, v cli.View, out string) {
	if out == "" {
		v.Say("\nNote: You didn't use the -out option to save this plan, so Lockstep can't\nguarantee to take exactly these actions if you run \"lockstep apply\" now.\n")
		return
	}
	v.Say("\nSaved the plan to: %s\n\nTo perform exactly these actions, run:\n    lockstep apply %q\n", out, out)
}

// makePlan opens the configuration, the state and the providers, and makes a plan. The caller must close the
// returned operation. If applying is set, the state stays locked until then; otherwise it is unlocked after
// planning.
func makePlan(a *cli.App, o *operationFlags, v cli.View, applying bool) (*plans.Plan, *opening.Operation, diags.Diagnostics) {
	op := opening.New(a)
	v.Diagnostics(o.deprecated())
	options, ds := o.options()
	if ds.HasErrors() {
		return nil, op, ds
	}
	var more diags.Diagnostics
	if o.generate != "" {
		if ds = generateTo(a, o.generate); ds.HasErrors() {
			return nil, op, ds
		}
	}
	if op.Dir, ds = a.Dir(); ds.HasErrors() {
		return nil, op, ds
	}
	op.Prestart()
	op.Config, more = a.LoadIfAny(op.Dir)
	more = append(more, requireConfig(op.Config, options.Mode, more)...)
	if ds = append(ds, more...); ds.HasErrors() {
		return nil, op, ds
	}
	o.vars.Ask = o.input && !o.json
	if more = op.Collect(o.vars); more.HasErrors() {
		return nil, op, append(ds, more...)
	}
	ds = append(ds, more...)
	name := "OperationTypePlan"
	if applying {
		name = "OperationTypeApply"
	}
	if ds = append(ds, op.OpenSelected(o.paths, o.locks, name)...); ds.HasErrors() {
		return nil, op, ds
	}
	if !applying {
		defer func() { ds = append(ds, op.Unlock(a.Ctx)...) }()
	}
	if ds = append(ds, op.RequireProviders()...); ds.HasErrors() {
		return nil, op, append(ds, op.Unlock(a.Ctx)...)
	}
	if options.Invoke == (addrs.AbsResourceInstance{}) { // else no object changes
		options.Waiting = waiting(op, options.Mode, options.Targets)
	}
	reads, more := o.readsAffected(options.Mode)
	if ds = append(ds, more...); reads {
		options.Affected = op.Affected(a.Ctx, o.refreshData == affected)
	}
	var generated generation
	if o.generate != "" {
		generated, more = generate(op, o, v)
		if ds = append(ds, more...); !generated.ok {
			return nil, op, append(ds, op.Unlock(a.Ctx)...)
		}
		options.Found = generated.found
	}
	plan, more := engine.Plan(a.Ctx, op.RunWith(o.parallelism, v), op.State.Current, options)
	ds = append(ds, more...)
	if plan != nil {
		plan.Backend, more = op.Backend()
		ds = append(ds, more...)
		if left := unsettled(op, options.Targets); options.Mode == plans.DestroyMode && len(left) > 0 {
			plan.Waiting, plan.Complete = left, false // objects that may exist are not destroyed
		}
		if more = op.Recovery.Reinvoked(plan); more.HasErrors() {
			plan.Errored, plan.Applyable = true, false
			ds = append(ds, more...)
		}
		generated.note(plan)
	}
	return plan, op, ds
}

// requireConfig returns an error if the directory has no configuration, because such a plan would destroy every
// object. It returns none if mode is DestroyMode, or if loaded already has an error.
func requireConfig(cfg *config.Config, mode plans.Mode, loaded diags.Diagnostics) diags.Diagnostics {
	if cfg == nil || loaded.HasErrors() || !cfg.Empty() || mode == plans.DestroyMode {
		return nil
	}
	return diags.Errorf(nil, "No configuration files",
		"Plan requires configuration to be present. Planning without a configuration would mark everything for destruction, which is normally not what is desired. If you would like to destroy everything, run plan with the -destroy option. Otherwise, create a configuration file (.tf file) and try again.")
}

// waiting returns the addresses that the plan leaves out, because an interrupted apply may have created these
// objects or may still be creating them: see [operation.Recovery.Waiting]. It returns none in two cases:
//   - mode is DestroyMode, because a destruction creates nothing;
//   - there are targets, because the user has chosen them.
func waiting(op *opening.Operation, mode plans.Mode, targets []addrs.Target) []addrs.Target {
	if mode == plans.DestroyMode {
		return nil
	}
	return unsettled(op, targets)
}

// unsettled returns the addresses of objects that an interrupted apply may have created, or that it may still
// be creating. It returns none with targets, because then the user has chosen the addresses.
func unsettled(op *opening.Operation, targets []addrs.Target) []addrs.Target {
	if len(targets) > 0 {
		return nil
	}
	return op.Recovery.Waiting()
}

// mostNames is the maximum number of addresses in a sentence.
const mostNames = 10

// names returns at most [mostNames] addresses for a sentence, such as "a, b and 3 more".
func names(list []addrs.Target) string {
	var all []string
	for _, t := range list[:min(mostNames, len(list))] {
		all = append(all, t.String())
	}
	text := strings.Join(all, ", ")
	if n := len(list) - len(all); n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}
