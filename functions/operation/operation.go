// Package operation runs one operation on one state: a plan, an apply, or an edit, from opening the state to
// its last save. The command line and the pipeline's executor share it.
//
// An [Operation] has everything that is open, and calls the engine with it. The package decides nothing about
// directories, sources of variables, allowed backends and providers, messages about locks, or what happens to a
// state that its backend refused. Its callers do, and pass what they have opened. Start reading at [Operation].
package operation

import (
	"context"
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend/journal"
)

// An Operation has one configuration, one state, and the providers of both. The caller sets the exported fields
// in the order of their declaration, directly or with the methods. The zero value is ready for that. It must be
// closed, and only one goroutine may use it.
type Operation struct {
	// Config is the configuration; nil for an operation that only reads or edits the state.
	Config *config.Config
	// Variables, Given and Invalid are the values of the root module's variables, as in [engine.Run].
	Variables map[string]cty.Value
	Given     map[string]cty.Value
	Invalid   map[string]diags.Diagnostics
	// Budget limits the evaluation of expressions. nil means that each run has its own budget with the default
	// limits.
	Budget *budget.Budget

	// Settings are the settings of the backend.
	Settings *workdir.Settings
	// Workspace is the workspace's name as expressions see it. The backend may have another name for it.
	Workspace string
	// Journaled makes an apply keep a journal beside the state, if the backend can store one. It also makes
	// OpenState recover from the journal of a crashed apply.
	Journaled bool
	// Planned is the [PlanID] of the saved plan that will be applied; "" if there is none. Set it before
	// OpenState. OpenState then does not recover from a journal of exactly that plan: it sets Begun, and Apply
	// continues the journal.
	Planned string
	// Ended, if not nil, is called with the result of an apply, after its state is stored and before its
	// journal is deleted. If Ended returns an error, the journal stays.
	Ended func(Applied, diags.Diagnostics) error
	// State, Recovery and Begun are set by OpenState.
	State    *workdir.State
	Recovery Recovery
	Begun    *Begun
	// Opened identifies the state that OpenState has read, including the results that only a journal has. It is
	// the same whether or not the recovery is stored.
	Opened Identity
	// Providers is set by OpenProviders.
	Providers *workdir.Providers

	left     [][]byte         // journal records at the recovery of the state
	history  *journal.History // the journal as last read under our lock; nil if unknown or written to since
	journals int              // the number of opened journals

	analysis engine.Analysis // of Config, shared by all runs
	closers  []func()
}

// An Identity identifies the content of a state. It is zero if there is no state.
type Identity struct {
	Lineage string
	Serial  uint64
	Version string
}

// OnClose adds a function that Close calls. Functions added later are called first.
func (o *Operation) OnClose(f func()) { o.closers = append(o.closers, f) }

// Close stops the providers, and calls the functions added with OnClose. It does not release the state's lock,
// because nobody would notice a failure: see [Operation.Unlock]. Further calls do nothing.
func (o *Operation) Close() {
	closers := o.closers
	o.closers = nil
	for _, f := range slices.Backward(closers) {
		f()
	}
}

// OpenProviders finds the providers of a directory, without starting them. When ctx ends, calls in progress
// have the time grace to end; then the processes are killed. Further calls do nothing.
func (o *Operation) OpenProviders(ctx context.Context, d *workdir.Dir, options workdir.PoolOptions, grace time.Duration) diags.Diagnostics {
	if o.Providers != nil {
		return nil
	}
	pool, ds := d.OpenProviders(options)
	if ds.HasErrors() {
		return ds
	}
	o.Providers = pool
	o.OnClose(func() { pool.Close() })
	o.OnClose(pool.Guard(ctx, grace))
	return ds
}

// Schemas returns the schema of a provider, for rendering and saved plans; nil if it is not available. It does
// not depend on a context, so that a plan can be shown after an interrupt.
func (o *Operation) Schemas(p addrs.Provider) *schema.Provider {
	if o.Providers == nil {
		return nil
	}
	s, ds := o.Providers.Schema(context.Background(), p)
	if ds.HasErrors() {
		return nil
	}
	return s
}

// Run returns the settings for a run of the engine. The caller adds directories, files, events and limits.
func (o *Operation) Run() engine.Run {
	return engine.Run{
		Config: o.Config, Providers: o.Providers, Variables: o.Variables, Given: o.Given, InvalidVariables: o.Invalid,
		Workspace: o.Workspace, Analysis: &o.analysis, Budget: o.Budget,
	}
}
