package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/generating"
	"github.com/lockstep-iac/lockstep/engine/planning"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// operation is everything open that planning and applying need.
type operation struct {
	a         *app
	dir       *workdir.Dir
	cfg       *config.Config
	analysis  engine.Analysis // of cfg
	variables map[string]cty.Value
	given     map[string]cty.Value // the same before conversion
	unfit     map[string]diags.Diagnostics
	generated []generating.Generated // for objects that are imported
	found     planning.Found         // what else is known of them
	settings  *workdir.Settings
	planned   *workdir.Settings // of the backend that a saved plan names; nil without one
	workspace string
	state     *workdir.State
	pool      *workdir.Providers
	closed    chan struct{} // with the pool
}

// load opens the directory and reads the configuration.
func (a *app) load() (*workdir.Dir, *config.Config, diags.Diagnostics) {
	d, ds := a.dir()
	cfg, more := a.loadFrom(d)
	return d, cfg, append(ds, more...)
}

// loadFrom reads the configuration in a directory.
func (a *app) loadFrom(d *workdir.Dir) (*config.Config, diags.Diagnostics) {
	cfg, ds := a.loadIfAny(d)
	if cfg != nil && !ds.HasErrors() && cfg.Empty() {
		ds = append(ds, diags.Errorf(nil, "No configuration files",
			"The directory %s contains no configuration files (.tf). Lockstep needs a configuration to know what is wanted.", d.WorkingDir())...)
	}
	return cfg, ds
}

// loadIfAny reads the configuration in a directory, which need not have any.
func (a *app) loadIfAny(d *workdir.Dir) (*config.Config, diags.Diagnostics) {
	return a.loadRoot(d, "")
}

// loadRoot is loadIfAny with the root module in another directory; see workdir.LoadRoot.
func (a *app) loadRoot(d *workdir.Dir, root string) (*config.Config, diags.Diagnostics) {
	cfg, ds := d.LoadRoot(root)
	if cfg != nil {
		maps.Copy(a.files, cfg.Files)
	}
	return cfg, ds
}

// collect gathers the root variables from files, environment and options. Those whose
// values do not fit are named in unfit.
func (o *operation) collect(flags varFlags) diags.Diagnostics {
	root := o.cfg.Root.Content
	sources, ds := o.a.sources(o.dir, flags)
	if ds.HasErrors() {
		return ds
	}
	sources, more := o.a.askVariables(root, sources, flags.ask)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	inputs, more := config.CollectInputs(root, sources)
	o.variables, o.given, o.unfit = map[string]cty.Value{}, map[string]cty.Value{}, map[string]diags.Diagnostics{}
	for name, x := range inputs {
		o.variables[name] = x.Value
		if x.Origin != 0 || !root.Variables[name].Ephemeral {
			o.given[name] = x.Given
		}
		if x.Problem != nil {
			o.unfit[name] = x.Problem
		}
	}
	return append(ds, more...)
}

// fit returns what is wrong with the values of variables.
func (o *operation) fit() diags.Diagnostics {
	var ds diags.Diagnostics
	for _, name := range slices.Sorted(maps.Keys(o.unfit)) {
		ds = append(ds, o.unfit[name]...)
	}
	return ds
}

// sources lists where values of variables come from, least important first.
func (a *app) sources(d *workdir.Dir, given varFlags) ([]config.VariableSource, diags.Diagnostics) {
	sources := []config.VariableSource{config.EnvironmentVariables(a.environ)}
	var ds diags.Diagnostics
	file := func(origin config.VariableOrigin, name, path string) {
		src, err := os.ReadFile(path)
		if err != nil {
			ds = append(ds, diags.Errorf(nil, "Failed to read variables file", "Given variables file %s cannot be read: %s.", name, reason(err))...)
			return
		}
		s, more := config.FileVariables(origin, name, src)
		if s.File != nil {
			a.files[name] = s.File
		}
		ds = append(ds, more...)
		sources = append(sources, s)
	}
	entries, _ := os.ReadDir(d.Path)
	for _, fixed := range []string{"terraform.tfvars", "terraform.tfvars.json"} {
		if _, err := os.Stat(filepath.Join(d.Path, fixed)); err == nil {
			file(config.FromAutoFile, fixed, filepath.Join(d.Path, fixed))
		}
	}
	for _, e := range entries { // sorted by name
		if n := e.Name(); strings.HasSuffix(n, ".auto.tfvars") || strings.HasSuffix(n, ".auto.tfvars.json") {
			file(config.FromAutoFile, n, filepath.Join(d.Path, n))
		}
	}
	for _, g := range given.given {
		if g.file {
			file(config.FromNamedFile, g.text, a.path(g.text))
			continue
		}
		s, more := config.OptionVariable(g.text)
		ds = append(ds, more...)
		sources = append(sources, s)
	}
	return sources, ds
}

// reason returns what is wrong with a file, without repeating its path.
func reason(err error) string {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// openState opens the backend and the state of the selected workspace, locked if
// lockName (Terraform's word for the operation) is given.
func (o *operation) openState(ctx context.Context, paths workdir.LocalPaths, locks lockFlags, lockName string) diags.Diagnostics {
	b, ds := o.backendOf(ctx, paths)
	if ds.HasErrors() {
		return ds
	}
	o.workspace = o.dir.Workspace()
	st, more := workdir.OpenState(b, o.workspace)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	o.state = st
	if lockName != "" && locks.lock {
		info := statebackend.NewLockInfo(lockName, engine.LanguageVersion)
		if ds = append(ds, st.Lock(ctx, info, locks.timeout)...); ds.HasErrors() {
			return ds
		}
	}
	if more := st.Read(ctx); more.HasErrors() {
		ds = append(ds, more...)
		ds = append(ds, o.unlock()...)
	}
	return ds
}

// backendOf opens the backend: the one that a saved plan names, whatever init has recorded since,
// or the one that init recorded.
func (o *operation) backendOf(ctx context.Context, paths workdir.LocalPaths) (statebackend.Backend, diags.Diagnostics) {
	if o.planned != nil {
		o.settings = o.planned
		return o.dir.OpenBackend(ctx, o.planned, paths)
	}
	b, settings, ds := o.dir.Backend(ctx, o.cfg, paths)
	o.settings = settings
	return b, ds
}

// unlock releases the state's lock; it works after an interrupt, too.
func (o *operation) unlock() diags.Diagnostics {
	if o.state == nil {
		return nil
	}
	return o.state.Unlock(context.WithoutCancel(o.a.ctx))
}

// openProviders makes the providers available that configuration and state need.
func (o *operation) openProviders(ctx context.Context) diags.Diagnostics {
	ds := o.dir.DevelopmentWarning("So what happens may differ from what any released version does, and released versions may not be able to read the state after an apply.")
	return append(ds, o.providersFor(ctx, o.state.Current)...)
}

// providersFor makes the providers available that the configuration and a state need.
func (o *operation) providersFor(ctx context.Context, state *states.State) diags.Diagnostics {
	reqs, ds := workdir.Requirements(o.cfg, state)
	if ds.HasErrors() {
		return ds
	}
	if ds = append(ds, o.openPool(ctx)...); ds.HasErrors() {
		return ds
	}
	return append(ds, o.pool.Require(reqs)...)
}

// providersToValidate makes the providers available that the configuration needs, in the
// versions that are selected, whichever it asks for.
func (o *operation) providersToValidate(ctx context.Context) diags.Diagnostics {
	reqs, ds := workdir.Requirements(o.cfg, nil)
	if ds.HasErrors() {
		return ds
	}
	if ds = append(ds, o.openPool(ctx)...); ds.HasErrors() {
		return ds
	}
	return append(ds, o.pool.RequireAny(reqs)...)
}

// prestart begins to start the providers that the lock file selects, while there is
// other work to do. What is wrong with them is reported when they are needed.
func (o *operation) prestart(ctx context.Context) {
	if ds := o.openPool(ctx); !ds.HasErrors() {
		o.pool.Prestart()
	}
}

// openPool finds the providers, unless that is done.
func (o *operation) openPool(ctx context.Context) diags.Diagnostics {
	if o.pool != nil {
		return nil
	}
	pool, ds := o.dir.OpenProviders(workdir.PoolOptions{Log: o.a.logs.to, LogLevel: o.a.logs.provider, RemoteState: o.dir.RemoteState})
	if ds.HasErrors() {
		return ds
	}
	release := pool.Guard(ctx, stopGrace)
	closed := make(chan struct{})
	o.pool, o.closed = pool, closed
	go func() {
		defer release()
		select {
		case <-o.a.hurry:
			pool.Close()
		case <-closed:
		}
	}()
	return ds
}

// close ends what is open.
func (o *operation) close() {
	if o.pool != nil {
		close(o.closed)
		o.pool.Close()
	}
}

// run returns what the engine needs to know.
func (o *operation) run(parallelism int, v view) engine.Run {
	return engine.Run{
		Config: o.cfg, Providers: o.pool, Variables: o.variables, Given: o.given, InvalidVariables: o.unfit,
		WorkingDir: o.a.startDir(), BaseDir: o.dir.WorkingDir(), Workspace: o.workspace, Parallelism: parallelism, Events: v.event,
		Analysis: &o.analysis, Budget: o.a.budget,
	}
}

// stopGrace is how long providers may take to stop after an interrupt. Whoever does
// not want to wait interrupts again.
const stopGrace = 10 * time.Minute
