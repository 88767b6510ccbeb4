package changing

import (
	"context"
	"maps"
	"path/filepath"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

// importFlags are the options of the command import.
type importFlags struct {
	vars        cli.VarFlags
	locks       cli.LockFlags
	paths       workdir.LocalPaths
	config      string
	parallelism int
	input       bool
}

var Import = cli.Command{Name: "import", Synopsis: "Import an existing object into the state by its ID or identity", Run: func(a *cli.App, args []string) int {
	var o importFlags
	f := a.NewFlags("import", "import [OPTIONS] ADDRESS ID")
	f.Vars(&o.vars)
	f.Locking(&o.locks)
	f.State(&o.paths)
	f.Input(&o.input)
	f.StringVar(&o.config, "config", "", "the directory of the configuration (default: this one)")
	f.IntVar(&o.parallelism, "parallelism", 10, "the number of concurrent provider calls; 0 means 10")
	f.Bool("ignore-remote-version", false, "")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if f.NArg() != 2 {
		return f.WrongArguments("write the address and the object's ID: lockstep import aws_instance.web i-0abc12", "import takes two arguments, and you gave %d", f.NArg())
	}
	addr, ds := cli.ParseInstance(f.Arg(0))
	switch {
	case ds.HasErrors():
		return a.Show(ds)
	case addr.Resource.Resource.Mode != addrs.Managed:
		return a.Show(diags.Errorf(nil, "A managed resource address is required", "Only managed resources can be imported to, and %s is not one.", addr))
	}
	v := a.View(false)
	defer v.Close()
	ds = importObject(a, &o, v, addr, f.Arg(1))
	v.Diagnostics(ds)
	if ds.HasErrors() {
		return 1
	}
	v.Say("\n%s\n\nThe object shown above is now in the state, and managed by Lockstep from here on.\n", a.Print().Bold("Import successful!"))
	return 0
}}

// importObject imports one object, and writes the state with this object.
func importObject(a *cli.App, o *importFlags, v cli.View, addr addrs.AbsResourceInstance, id string) diags.Diagnostics {
	op := opening.New(a)
	defer op.Close()
	ds := loadFor(op, o)
	if ds.HasErrors() {
		return ds
	}
	o.vars.Ask = o.input
	if ds = append(append(ds, op.Collect(o.vars)...), op.InvalidVariables()...); ds.HasErrors() {
		return ds
	}
	if ds = append(ds, op.OpenSelected(o.paths, o.locks, "import")...); ds.HasErrors() {
		return ds
	}
	if ds = append(ds, op.RequireProviders()...); ds.HasErrors() {
		return append(ds, op.Unlock(a.Ctx)...)
	}
	run := op.RunWith(o.parallelism, v)
	prepared := false
	run.Events = func(e events.Event) {
		switch {
		case e.Kind == events.ImportStart:
			v.Say("%s: Importing from ID %q...\n", addr, id)
			return
		case e.Kind == events.RefreshStart && e.Addr.Instance == addr && !prepared:
			// The provider has found the object. Programs that run `terraform import` search its output for the
			// words "Import prepared!".
			prepared = true
			v.Say("%s\n  Prepared %s for import\n", a.Print().Bold(addr.String()+": Import prepared!"), addr.Resource.Resource.Type)
		}
		v.Event(e)
	}
	next, more := engine.Import(a.Ctx, run, op.State.Current, addr, id)
	if ds = append(ds, more...); !ds.HasErrors() {
		if err := op.State.Write(context.WithoutCancel(a.Ctx), next); err != nil {
			ds = append(append(ds, diags.FromError("Error saving the state", err)...), op.Rescue(next)...)
		}
	}
	return append(ds, op.Unlock(a.Ctx)...)
}

// loadFor opens the working directory and reads the configuration. The option -config may name a directory with
// the configuration that is not the working directory.
func loadFor(o *opening.Operation, f *importFlags) diags.Diagnostics {
	var ds diags.Diagnostics
	if f.config == "" || filepath.Clean(o.App.Path(f.config)) == filepath.Clean(o.App.Chdir) {
		o.Dir, o.Config, ds = o.App.Load()
		return ds
	}
	if o.Dir, ds = o.App.Dir(); ds.HasErrors() {
		return ds
	}
	there := *o.Dir
	there.Path = o.App.Path(f.config)
	cfg, more := there.Load()
	if ds = append(ds, more...); cfg == nil {
		return ds
	}
	o.Config = cfg
	maps.Copy(o.App.Files, cfg.Files)
	if !ds.HasErrors() && cfg.Empty() {
		ds = append(ds, diags.Errorf(nil, "No configuration files", "The directory %s contains no configuration files (.tf).", f.config)...)
	}
	return ds
}
