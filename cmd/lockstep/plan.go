package main

import (
	"context"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

var planCommand = command{name: "plan", synopsis: "Show what an apply would change", main: true, run: func(a *app, args []string) int {
	var o operationFlags
	var out string
	var detailed bool
	f := a.newFlags("plan", "plan [OPTIONS]")
	f.operation(&o)
	f.StringVar(&out, "out", "", "save the plan in a file, for `lockstep apply FILE`")
	f.StringVar(&o.generate, "generate-config-out", "", "write the resource blocks that import blocks lack to this new file")
	f.BoolVar(&detailed, "detailed-exitcode", false, "exit with 2 if there is something to change, 0 if not, 1 on errors")
	if code, ok := f.parse(args); !ok {
		return code
	}
	if code, ok := f.noArguments(); !ok {
		return code
	}
	v := a.view(o.json)
	defer v.close()
	plan, op, ds := a.plan(&o, v, false)
	defer op.close()
	if plan != nil && out != "" {
		ds = append(ds, op.savePlan(plan, a.path(out))...)
	}
	if plan != nil {
		v.plan(plan, op, false)
	}
	v.diagnostics(ds)
	switch {
	case ds.HasErrors():
		return 1
	case detailed && plan.Applyable:
		return 2
	}
	if plan.Applyable && !o.json && !a.inAutomation() {
		a.nextStep(v, out)
	}
	return 0
}}

// nextStep says what can be done with a plan that was saved in a file, or was not.
func (a *app) nextStep(v view, out string) {
	if out == "" {
		v.say("\nNote: You didn't use the -out option to save this plan, so what \"lockstep apply\"\ndoes later may differ from it.\n")
		return
	}
	v.say("\nSaved the plan to: %s\n\nTo perform exactly these actions, run:\n    lockstep apply %q\n", out, out)
}

// plan opens everything and makes a plan. The operation is returned open; its state
// stays locked only if applying follows.
func (a *app) plan(o *operationFlags, v view, applying bool) (*plans.Plan, *operation, diags.Diagnostics) {
	op := &operation{a: a}
	v.diagnostics(o.deprecated())
	options, ds := o.options()
	if ds.HasErrors() {
		return nil, op, ds
	}
	var more diags.Diagnostics
	if o.generate != "" {
		if ds = a.generateTo(o.generate); ds.HasErrors() {
			return nil, op, ds
		}
	}
	if op.dir, ds = a.dir(); ds.HasErrors() {
		return nil, op, ds
	}
	op.prestart(a.ctx)
	op.cfg, more = a.loadFrom(op.dir)
	if ds = append(ds, more...); ds.HasErrors() {
		return nil, op, ds
	}
	o.vars.ask = o.input && !o.json
	if more = op.collect(o.vars); more.HasErrors() {
		return nil, op, append(ds, more...)
	}
	ds = append(ds, more...)
	name := "OperationTypePlan"
	if applying {
		name = "OperationTypeApply"
	}
	if ds = append(ds, op.openState(a.ctx, o.paths, o.locks, name)...); ds.HasErrors() {
		return nil, op, ds
	}
	if !applying {
		defer func() { ds = append(ds, op.unlock()...) }()
	}
	if ds = append(ds, op.openProviders(a.ctx)...); ds.HasErrors() {
		return nil, op, append(ds, op.unlock()...)
	}
	if o.generate != "" {
		more, ok := op.generate(o, v)
		if ds = append(ds, more...); !ok {
			return nil, op, append(ds, op.unlock()...)
		}
		options.Found = op.found
	}
	plan, more := engine.Plan(a.ctx, op.run(o.parallelism, v), op.state.Current, options)
	ds = append(ds, more...)
	if plan != nil {
		plan.Backend, more = op.backend()
		ds = append(ds, more...)
		op.noteGenerated(plan)
	}
	return plan, op, ds
}

// schemas returns a provider's schema for rendering, or nil.
func (o *operation) schemas(p addrs.Provider) *schema.Provider {
	if o.pool == nil {
		return nil
	}
	s, ds := o.pool.Schema(context.WithoutCancel(o.a.ctx), p)
	if ds.HasErrors() {
		return nil
	}
	return s
}
