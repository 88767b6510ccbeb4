// Package opening opens everything that a command works on: the configuration, the backend with the
// state of the selected workspace, the providers, or a saved plan with the configuration in it.
//
// It decides nothing about changes: the commands plan and apply. Start at [Operation].
package opening

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/generating"
	"github.com/lockstep-iac/lockstep/engine/planning"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// Operation is everything open that planning and applying need.
type Operation struct {
	A         *cli.App
	Dir       *workdir.Dir
	Cfg       *config.Config
	Analysis  engine.Analysis // of cfg
	Variables map[string]cty.Value
	given     map[string]cty.Value // the same before conversion
	unfit     map[string]diags.Diagnostics
	Generated []generating.Generated // for objects that are imported
	Found     planning.Found         // what else is known of them
	Settings  *workdir.Settings
	planned   *workdir.Settings // of the backend that a saved plan names; nil without one
	Workspace string
	State     *workdir.State
	Pool      *workdir.Providers
	closed    chan struct{} // with the pool
}

// Collect gathers the root variables from files, environment and options. Those whose
// values do not fit are named in unfit.
func (o *Operation) Collect(flags cli.VarFlags) diags.Diagnostics {
	root := o.Cfg.Root.Content
	sources, ds := o.A.Sources(o.Dir, flags)
	if ds.HasErrors() {
		return ds
	}
	sources, more := o.A.AskVariables(root, sources, flags.Ask)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	inputs, more := inputs.Collect(root, sources)
	o.Variables, o.given, o.unfit = map[string]cty.Value{}, map[string]cty.Value{}, map[string]diags.Diagnostics{}
	for name, x := range inputs {
		o.Variables[name] = x.Value
		if x.Origin != 0 || !root.Variables[name].Ephemeral {
			o.given[name] = x.Given
		}
		if x.Problem != nil {
			o.unfit[name] = x.Problem
		}
	}
	return append(ds, more...)
}

// Fit returns what is wrong with the values of variables.
func (o *Operation) Fit() diags.Diagnostics {
	var ds diags.Diagnostics
	for _, name := range slices.Sorted(maps.Keys(o.unfit)) {
		ds = append(ds, o.unfit[name]...)
	}
	return ds
}

// OpenState opens the backend and the state of the selected workspace, locked if
// lockName (Terraform's word for the operation) is given.
func (o *Operation) OpenState(ctx context.Context, paths workdir.LocalPaths, locks cli.LockFlags, lockName string) diags.Diagnostics {
	b, ds := o.backendOf(ctx, paths)
	if ds.HasErrors() {
		return ds
	}
	o.Workspace = o.Dir.Workspace()
	st, more := workdir.OpenState(b, o.Workspace)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	o.State = st
	if lockName != "" && locks.Lock {
		info := statebackend.NewLockInfo(lockName, engine.LanguageVersion)
		if ds = append(ds, st.Lock(ctx, info, locks.Timeout)...); ds.HasErrors() {
			return ds
		}
	}
	if more := st.Read(ctx); more.HasErrors() {
		ds = append(ds, more...)
		ds = append(ds, o.Unlock()...)
	}
	return ds
}

// backendOf opens the backend: the one that a saved plan names, whatever init has recorded since,
// or the one that init recorded.
func (o *Operation) backendOf(ctx context.Context, paths workdir.LocalPaths) (statebackend.Backend, diags.Diagnostics) {
	if o.planned != nil {
		o.Settings = o.planned
		return o.Dir.OpenBackend(ctx, o.planned, paths)
	}
	b, settings, ds := o.Dir.Backend(ctx, o.Cfg, paths)
	o.Settings = settings
	return b, ds
}

// Unlock releases the state's lock; it works after an interrupt, too.
func (o *Operation) Unlock() diags.Diagnostics {
	if o.State == nil {
		return nil
	}
	return o.State.Unlock(context.WithoutCancel(o.A.Ctx))
}

// OpenProviders makes the providers available that configuration and state need.
func (o *Operation) OpenProviders(ctx context.Context) diags.Diagnostics {
	ds := o.Dir.DevelopmentWarning("So what happens may differ from what any released version does, and released versions may not be able to read the state after an apply.")
	return append(ds, o.ProvidersFor(ctx, o.State.Current)...)
}

// ProvidersFor makes the providers available that the configuration and a state need.
func (o *Operation) ProvidersFor(ctx context.Context, state *states.State) diags.Diagnostics {
	reqs, ds := workdir.Requirements(o.Cfg, state)
	if ds.HasErrors() {
		return ds
	}
	if ds = append(ds, o.openPool(ctx)...); ds.HasErrors() {
		return ds
	}
	return append(ds, o.Pool.Require(reqs)...)
}

// ProvidersToValidate makes the providers available that the configuration needs, in the
// versions that are selected, whichever it asks for.
func (o *Operation) ProvidersToValidate(ctx context.Context) diags.Diagnostics {
	reqs, ds := workdir.Requirements(o.Cfg, nil)
	if ds.HasErrors() {
		return ds
	}
	if ds = append(ds, o.openPool(ctx)...); ds.HasErrors() {
		return ds
	}
	return append(ds, o.Pool.RequireAny(reqs)...)
}

// Prestart begins to start the providers that the lock file selects, while there is
// other work to do. What is wrong with them is reported when they are needed.
func (o *Operation) Prestart(ctx context.Context) {
	if ds := o.openPool(ctx); !ds.HasErrors() {
		o.Pool.Prestart()
	}
}

// openPool finds the providers, unless that is done.
func (o *Operation) openPool(ctx context.Context) diags.Diagnostics {
	if o.Pool != nil {
		return nil
	}
	pool, ds := o.Dir.OpenProviders(workdir.PoolOptions{Log: o.A.Logs.To, LogLevel: o.A.Logs.Provider, RemoteState: o.Dir.RemoteState})
	if ds.HasErrors() {
		return ds
	}
	release := pool.Guard(ctx, stopGrace)
	closed := make(chan struct{})
	o.Pool, o.closed = pool, closed
	go func() {
		defer release()
		select {
		case <-o.A.Hurry:
			pool.Close()
		case <-closed:
		}
	}()
	return ds
}

// Close ends what is open.
func (o *Operation) Close() {
	if o.Pool != nil {
		close(o.closed)
		o.Pool.Close()
	}
}

// Run returns what the engine needs to know.
func (o *Operation) Run(parallelism int, v cli.View) engine.Run {
	return engine.Run{
		Config: o.Cfg, Providers: o.Pool, Variables: o.Variables, Given: o.given, InvalidVariables: o.unfit,
		WorkingDir: o.A.StartDir(), BaseDir: o.Dir.WorkingDir(), Workspace: o.Workspace, Parallelism: parallelism, Events: v.Event,
		Analysis: &o.Analysis, Budget: o.A.Budget,
	}
}

// stopGrace is how long providers may take to stop after an interrupt. Whoever does
// not want to wait interrupts again.
const stopGrace = 10 * time.Minute

// Schemas returns a provider's schema for rendering, or nil.
func (o *Operation) Schemas(p addrs.Provider) *schema.Provider {
	if o.Pool == nil {
		return nil
	}
	s, ds := o.Pool.Schema(context.WithoutCancel(o.A.Ctx), p)
	if ds.HasErrors() {
		return nil
	}
	return s
}

// OpenAll opens the directory, the state and the providers that both need. There
// need not be a configuration.
func (o *Operation) OpenAll(paths workdir.LocalPaths) diags.Diagnostics {
	var ds, more diags.Diagnostics
	if o.Dir, ds = o.A.Dir(); ds.HasErrors() {
		return ds
	}
	o.Cfg, more = o.Dir.Load()
	if o.Cfg != nil {
		maps.Copy(o.A.Files, o.Cfg.Files)
	}
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	if ds = append(ds, o.OpenState(o.A.Ctx, paths, cli.LockFlags{}, "")...); ds.HasErrors() {
		return ds
	}
	return append(ds, o.OpenProviders(o.A.Ctx)...)
}
