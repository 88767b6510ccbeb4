package main

import (
	"fmt"
	"os"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans/planfile"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
	"github.com/lockstep-iac/lockstep/functions/run/workdir"
)

var showCommand = command{name: "show", synopsis: "Show the state, or a saved plan or state file", run: func(a *app, args []string) int {
	var asJSON bool
	f := a.newFlags("show", "show [OPTIONS] [FILE]")
	f.vars(&varFlags{}) // the backend may need them
	f.BoolVar(&asJSON, "json", false, "in JSON, for programs")
	if code, ok := f.parse(args); !ok {
		return code
	}
	if f.NArg() > 1 {
		return f.refuse(tooMany, "show takes at most one file")
	}
	if f.NArg() == 1 {
		path := a.path(f.Arg(0))
		src, err := os.ReadFile(path)
		if err != nil {
			return a.show(diags.Errorf(nil, "Failed to read the given file as a state or plan file", "%s cannot be read as a state or plan: %s.", f.Arg(0), reason(err)))
		}
		if planfile.IsPlan(src) {
			return a.showPlan(path, asJSON)
		}
		s, err := statefile.Read(src)
		if err != nil {
			return a.show(diags.FromError("Failed to read the given file as a state or plan file", err))
		}
		return a.showState(s, asJSON)
	}
	d, ds := a.dir()
	if ds.HasErrors() {
		return a.show(ds)
	}
	b, _, ds := d.Backend(a.ctx, nil, workdir.LocalPaths{})
	if ds.HasErrors() {
		return a.show(ds)
	}
	st, ds := workdir.OpenState(b, d.Workspace())
	if !ds.HasErrors() {
		ds = st.Read(a.ctx)
	}
	if ds.HasErrors() {
		return a.show(ds)
	}
	return a.showState(st.Current, asJSON)
}}

// showPlan shows a saved plan.
func (a *app) showPlan(path string, asJSON bool) int {
	plan, op, ds := a.openPlan(path, lockFlags{}, workdir.LocalPaths{}, "")
	defer op.close()
	if ds.HasErrors() {
		return a.show(ds)
	}
	if !asJSON {
		a.print().Plan(a.out, plan, op.cfg, op.schemas)
		return 0
	}
	data, err := formats.Plan(plan, op.cfg, op.schemas)
	return a.writeJSON(data, err)
}

// showState shows a state, with the providers that init installed.
func (a *app) showState(s *states.State, asJSON bool) int {
	op, ds := a.openForState(s)
	defer op.close()
	if ds.HasErrors() {
		return a.show(ds)
	}
	if asJSON {
		data, err := formats.State(s, op.schemas)
		return a.writeJSON(data, err)
	}
	if err := formats.Readable(s, op.schemas); err != nil {
		return a.writeJSON(nil, err)
	}
	a.print().State(a.out, s, op.schemas)
	return 0
}

// openForState opens the providers that a state and the configuration, if there is
// one, need.
func (a *app) openForState(s *states.State) (*operation, diags.Diagnostics) {
	op := &operation{a: a}
	var ds diags.Diagnostics
	op.dir, ds = a.dir()
	if ds.HasErrors() {
		return op, ds
	}
	if _, ds = op.dir.Load(); ds.WithoutLate().HasErrors() {
		return op, ds // which types a state has is said by what the configuration requires, too
	}
	return op, op.providersFor(a.ctx, s)
}

// writeJSON writes a result.
func (a *app) writeJSON(data []byte, err error) int {
	if err != nil {
		return a.failed(fmt.Errorf("the result cannot be shown: %w", err)) // no diagnostic in the stock tool either
	}
	a.out.Write(append(data, '\n'))
	return 0
}
