// Package opening opens everything that a command works on: the configuration, the backend with the
// state of the selected workspace, the providers, or a saved plan with the configuration in it.
//
// It does not plan or apply: that is the work of the commands that use it. Start at [Operation].
package opening

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/operation"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// An Operation is an operation that a user runs in a working directory.
type Operation struct {
	operation.Operation
	App *cli.App
	Dir *workdir.Dir

	// Lasting keeps providers running after the first interrupt. It is for a command, such as test, that must
	// destroy the objects it has created.
	Lasting bool

	planned *workdir.Settings // the settings of the backend that the saved plan names; nil if there is no saved plan
	stored  *config.Config    // the configuration of a command that needs only its state; see OpenBackend
}

// Adopted returns a state with the provider addresses that the configuration has for them, for a command that
// needs only the state; see [config.Config.Adopt].
func (o *Operation) Adopted(s *states.State) *states.State { return o.stored.Adopt(s) }

// New returns an operation in which nothing is open yet. It must be closed if it opens providers. If the
// command panics, New's operation releases the state's lock; the journal lists the actions that were in
// progress.
func New(a *cli.App) *Operation {
	o := &Operation{App: a, Operation: operation.Operation{Language: a.Language(), Budget: a.Budget, Journaled: true}}
	a.OnCrash(func() { a.Tell(o.Unlock(a.Ctx)) })
	return o
}

// Collect sets o.Variables from variable files, the environment, options, and the user's answers to questions.
// Errors about values of the wrong type go to o.Invalid.
func (o *Operation) Collect(flags cli.VarFlags) diags.Diagnostics {
	root := o.Config.Root.Content
	sources, ds := o.App.Sources(o.Dir, flags)
	if ds.HasErrors() {
		return ds
	}
	sources, more := o.App.AskVariables(root, sources, flags.Ask)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	inputs, more := inputs.Collect(root, sources)
	o.Variables, o.Given, o.Invalid = map[string]cty.Value{}, map[string]cty.Value{}, map[string]diags.Diagnostics{}
	for name, x := range inputs {
		o.Variables[name] = x.Value
		if x.Origin != 0 || !root.Variables[name].Ephemeral {
			o.Given[name] = x.Given
		}
		if x.Problem != nil {
			o.Invalid[name] = x.Problem
		}
	}
	return append(ds, more...)
}

// InvalidVariables returns the errors about variables whose values have the wrong type.
func (o *Operation) InvalidVariables() diags.Diagnostics {
	var ds diags.Diagnostics
	for _, name := range slices.Sorted(maps.Keys(o.Invalid)) {
		ds = append(ds, o.Invalid[name]...)
	}
	return ds
}

// OpenSelected opens the state of the selected workspace. lockName is the name of the operation for which the
// state is locked, as in Terraform; "" means no lock.
func (o *Operation) OpenSelected(paths workdir.LocalPaths, locks cli.LockFlags, lockName string) diags.Diagnostics {
	ctx := o.App.Ctx
	b, ds := o.backendOf(ctx, paths)
	if ds.HasErrors() {
		return ds
	}
	o.Workspace = o.Dir.Workspace()
	return append(ds, o.OpenState(ctx, b, o.Workspace, Lock(locks, lockName))...)
}

// Lock returns the settings for locking the state. name is Terraform's name of the operation. The result is nil
// if the command locks no state.
func Lock(locks cli.LockFlags, name string) *operation.Lock {
	if name == "" {
		return nil
	}
	return &operation.Lock{Operation: name, Timeout: locks.Timeout, None: !locks.Lock}
}

// backendOf opens the backend. If there is a saved plan, it is the backend in the plan; otherwise it is the one
// that init recorded.
func (o *Operation) backendOf(ctx context.Context, paths workdir.LocalPaths) (statebackend.Backend, diags.Diagnostics) {
	if o.planned != nil {
		o.Settings = o.planned
		return o.Dir.OpenBackend(ctx, o.Config, o.planned, paths)
	}
	b, settings, ds := o.Dir.Backend(ctx, o.Config, paths)
	o.Settings = settings
	return b, ds
}

// RequireProviders opens the providers that the configuration and the state need.
func (o *Operation) RequireProviders() diags.Diagnostics {
	o.Adopt()
	ds := o.Dir.DevelopmentWarning("The results may differ from those of any released version, and released versions may not be able to read the state after an apply.")
	return append(ds, o.RequireProvidersOf(o.State.Current)...)
}

// RequireProvidersOf opens the providers that the configuration and the given state need.
func (o *Operation) RequireProvidersOf(state *states.State) diags.Diagnostics {
	reqs, ds := workdir.Requirements(o.Config, state)
	if ds.HasErrors() {
		return ds
	}
	if ds = append(ds, o.openProviders()...); ds.HasErrors() {
		return ds
	}
	return append(ds, o.Providers.Require(reqs)...)
}

// RequireSchemas opens the providers that validating the configuration needs. Their versions are those in the
// lock file, even if the configuration does not allow them.
func (o *Operation) RequireSchemas() diags.Diagnostics {
	reqs, ds := workdir.Requirements(o.Config, nil)
	if ds.HasErrors() {
		return ds
	}
	if ds = append(ds, o.openProviders()...); ds.HasErrors() {
		return ds
	}
	return append(ds, o.Providers.RequireAny(reqs)...)
}

// Prestart starts the providers that the lock file lists, in the background. If one cannot be started, the
// error is reported later, when the command needs that provider.
func (o *Operation) Prestart() {
	if ds := o.openProviders(); !ds.HasErrors() {
		o.Providers.Prestart()
	}
}

// stopGrace is how long providers may take to stop after an interrupt. A user who does not want to wait
// interrupts again.
const stopGrace = 10 * time.Minute

// openProviders finds the installed providers. A second interrupt by the user kills them.
func (o *Operation) openProviders() diags.Diagnostics {
	if o.Providers != nil {
		return nil
	}
	logs := o.App.Logs
	remote := func(ctx context.Context, backendType string, arguments cty.Value, workspace string) (map[string]cty.Value, error) {
		return o.Dir.RemoteState(ctx, o.Config, backendType, arguments, workspace)
	}
	ctx := o.App.Ctx
	if o.Lasting {
		ctx = context.WithoutCancel(ctx)
	}
	ds := o.OpenProviders(ctx, o.Dir, workdir.PoolOptions{Log: logs.To, LogLevel: logs.Provider, RemoteState: remote}, stopGrace)
	if ds.HasErrors() {
		return ds
	}
	pool, closed := o.Providers, make(chan struct{})
	o.OnClose(func() { close(closed) })
	go func() {
		select {
		case <-o.App.Hurry:
			pool.Close()
		case <-closed:
		}
	}()
	return ds
}

// RunWith returns the settings for a run of the engine that shows its events in a view.
func (o *Operation) RunWith(parallelism int, v cli.View) engine.Run {
	r := o.Run()
	r.WorkingDir, r.BaseDir = o.App.StartDir(), o.Dir.WorkingDir()
	r.Parallelism, r.Events = parallelism, v.Event
	return r
}

// OpenAll opens the working directory, the state, and the providers that the configuration and the state need.
// A directory without a configuration is no error.
func (o *Operation) OpenAll(paths workdir.LocalPaths) diags.Diagnostics {
	var ds, more diags.Diagnostics
	if o.Dir, ds = o.App.Dir(); ds.HasErrors() {
		return ds
	}
	o.Config, more = o.Dir.Load()
	if o.Config != nil {
		maps.Copy(o.App.Files, o.Config.Files)
	}
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	if ds = append(ds, o.OpenSelected(paths, cli.LockFlags{}, "")...); ds.HasErrors() {
		return ds
	}
	return append(ds, o.RequireProviders()...)
}
