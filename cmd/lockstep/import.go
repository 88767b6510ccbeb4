package main

import (
	"context"
	"maps"
	"path/filepath"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

// importFlags are import's options.
type importFlags struct {
	vars        varFlags
	locks       lockFlags
	paths       workdir.LocalPaths
	config      string
	parallelism int
	input       bool
}

var importCommand = command{name: "import", synopsis: "Bring an existing object into the state by its ID", run: func(a *app, args []string) int {
	var o importFlags
	f := a.newFlags("import", "import [OPTIONS] ADDRESS ID")
	f.vars(&o.vars)
	f.locking(&o.locks)
	f.state(&o.paths)
	f.input(&o.input)
	f.StringVar(&o.config, "config", "", "the directory of the configuration, if it is not this one")
	f.IntVar(&o.parallelism, "parallelism", 10, "how many provider calls may be under way at once")
	f.Bool("ignore-remote-version", false, "")
	if code, ok := f.parse(args); !ok {
		return code
	}
	if f.NArg() != 2 {
		return a.usage("import takes two arguments: the address to import to, and the object's ID")
	}
	addr, ds := parseInstance(f.Arg(0))
	switch {
	case ds.HasErrors():
		return a.show(ds)
	case addr.Resource.Resource.Mode != addrs.Managed:
		return a.show(diags.Errorf(nil, "A managed resource address is required", "Only managed resources can be imported to, and %s is none.", addr))
	}
	v := a.view(false)
	defer v.close()
	ds = a.importObject(&o, v, addr, f.Arg(1))
	v.diagnostics(ds)
	if ds.HasErrors() {
		return 1
	}
	v.say("\n%s\n\nThe object shown above is now in the state, and managed by Lockstep from here on.\n", a.print().Bold("Import successful!"))
	return 0
}}

// importObject imports one object and stores the new state.
func (a *app) importObject(o *importFlags, v view, addr addrs.AbsResourceInstance, id string) diags.Diagnostics {
	op := &operation{a: a}
	defer op.close()
	ds := op.loadFor(o)
	if ds.HasErrors() {
		return ds
	}
	o.vars.ask = o.input
	if ds = append(append(ds, op.collect(o.vars)...), op.fit()...); ds.HasErrors() {
		return ds
	}
	if ds = append(ds, op.openState(a.ctx, o.paths, o.locks, "import")...); ds.HasErrors() {
		return ds
	}
	if ds = append(ds, op.openProviders(a.ctx)...); ds.HasErrors() {
		return append(ds, op.unlock()...)
	}
	run := op.run(o.parallelism, v)
	prepared := false
	run.Events = func(e events.Event) {
		switch {
		case e.Kind == events.ImportStart:
			v.say("%s: Importing from ID %q...\n", addr, id)
			return
		case e.Kind == events.RefreshStart && e.Addr.Instance == addr && !prepared:
			// The provider has found it. Programs look for these words.
			prepared = true
			v.say("%s\n  Prepared %s for import\n", a.print().Bold(addr.String()+": Import prepared!"), addr.Resource.Resource.Type)
		}
		v.event(e)
	}
	next, more := engine.Import(a.ctx, run, op.state.Current, addr, id)
	if ds = append(ds, more...); !ds.HasErrors() {
		if err := op.state.Write(context.WithoutCancel(a.ctx), next); err != nil {
			ds = append(append(ds, diags.FromError("Error saving the state", err)...), op.rescue(next)...)
		}
	}
	return append(ds, op.unlock()...)
}

// loadFor opens the directory and reads the configuration, which may be elsewhere.
func (o *operation) loadFor(f *importFlags) diags.Diagnostics {
	var ds diags.Diagnostics
	if f.config == "" || filepath.Clean(o.a.path(f.config)) == filepath.Clean(o.a.chdir) {
		o.dir, o.cfg, ds = o.a.load()
		return ds
	}
	if o.dir, ds = o.a.dir(); ds.HasErrors() {
		return ds
	}
	there := *o.dir
	there.Path = o.a.path(f.config)
	cfg, more := there.Load()
	if ds = append(ds, more...); cfg == nil {
		return ds
	}
	o.cfg = cfg
	maps.Copy(o.a.files, cfg.Files)
	if !ds.HasErrors() && cfg.Empty() {
		ds = append(ds, diags.Errorf(nil, "No configuration files", "The directory %s contains no configuration files (.tf).", f.config)...)
	}
	return ds
}
