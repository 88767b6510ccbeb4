package main

import (
	"fmt"
	"os"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans/planfile"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
	"github.com/lockstep-iac/lockstep/functions/workdir"
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
		return a.showState(asJSON, func(*workdir.Dir, *config.Config) (*states.State, diags.Diagnostics) { return s, nil })
	}
	return a.showState(asJSON, func(d *workdir.Dir, cfg *config.Config) (*states.State, diags.Diagnostics) {
		b, _, ds := d.Backend(a.ctx, cfg, workdir.LocalPaths{})
		if ds.HasErrors() {
			return nil, ds
		}
		st, ds := workdir.OpenState(b, d.Workspace())
		if ds.HasErrors() {
			return nil, ds
		}
		if ds = st.Read(a.ctx); !st.Exists() {
			return nil, ds
		}
		return st.Current, ds
	})
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

// showState shows a state, with the providers that init installed; find returns nil if there is none.
// What only a validation would find in the configuration is no obstacle; other errors are, because
// the types that a state has are said by what it requires, too. To say that there is no state, the
// root module is enough.
func (a *app) showState(asJSON bool, find func(*workdir.Dir, *config.Config) (*states.State, diags.Diagnostics)) int {
	op := &operation{a: a}
	defer op.close()
	var ds diags.Diagnostics
	if op.dir, ds = a.dir(); ds.HasErrors() {
		return a.show(ds)
	}
	cfg, loaded := a.loadIfAny(op.dir)
	broken := loaded.WithoutLate().HasErrors()
	if broken && (cfg == nil || cfg.Root.Broken()) {
		return a.show(loaded)
	}
	s, ds := find(op.dir, cfg)
	if s == nil && !ds.HasErrors() {
		return a.showNothing(asJSON)
	}
	if broken {
		return a.show(loaded)
	}
	if !ds.HasErrors() {
		ds = append(ds, op.providersFor(a.ctx, s)...)
	}
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

// showNothing says that there is no state.
func (a *app) showNothing(asJSON bool) int {
	if asJSON {
		data, err := formats.State(states.Empty(), nil)
		return a.writeJSON(data, err)
	}
	fmt.Fprintln(a.out, "No state.")
	return 0
}

// writeJSON writes a result.
func (a *app) writeJSON(data []byte, err error) int {
	if err != nil {
		return a.failed(fmt.Errorf("the result cannot be shown: %w", err)) // no diagnostic in the stock tool either
	}
	a.out.Write(append(data, '\n'))
	return 0
}
