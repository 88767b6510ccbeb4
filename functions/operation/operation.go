// Package operation is one operation on one state: a plan, an apply, or an edit, from opening the state to its
// last save. The command line and the executor of the pipeline share it.
//
// An [Operation] holds everything that is open, and calls the engine with it. This package refuses to know
// policy. Its users decide about directories, sources of variables, allowed backends and providers, messages
// about locks, and what happens to a state that its backend refused. They pass what they have opened. Start
// reading at [Operation].
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

// An Operation holds one configuration, one state, and the providers of both. Its user sets the exported fields
// in the order of their declaration, directly or with the methods. The zero value is ready for that. It must be
// closed, and only one goroutine may use it.
type Operation struct {
	// Config is nil for an operation that only reads or edits the state.
	Config *config.Config
	// Variables, Given and Invalid are the values of the root module's variables, as in [engine.Run].
	Variables map[string]cty.Value
	Given     map[string]cty.Value
	Invalid   map[string]diags.Diagnostics
	// Budget limits evaluations. If it is nil, each run has a generous budget of its own.
	Budget *budget.Budget

	// Settings are the settings of the backend.
	Settings *workdir.Settings
	// Workspace is the name that the configuration sees. The workspace may have another name in the backend.
	Workspace string
	// Journaled makes applies keep a journal beside the state, if the backend can store one. It makes OpenState
	// recover from the journal of a crashed apply.
	Journaled bool
	// Planned names the saved plan that is going to be applied, see [PlanID]; "" for none. It is set before
	// OpenState. A journal of exactly that plan is not recovered, but left for Apply to continue, and Begun
	// says so.
	Planned string
	// Ended is called with the result of an apply once its state is stored, and before its journal is removed;
	// it may be nil. After an error the journal stays.
	Ended func(Applied, diags.Diagnostics) error
	// State is set by OpenState, and so are Recovery and Begun.
	State    *workdir.State
	Recovery Recovery
	Begun    *Begun
	// Opened is the state as OpenState has read it, with the results that only a journal has. It is the same
	// before and after a recovery is stored.
	Opened Identity
	// Providers is set by OpenProviders.
	Providers *workdir.Providers

	left     [][]byte         // records of the journal when the state was recovered
	history  *journal.History // the journal then, if nothing was written to it since under our lock; nil if unknown
	journals int              // the number of opened journals

	analysis engine.Analysis // of Config, shared by all runs
	closers  []func()
}

// An Identity distinguishes states. It is zero for no state.
type Identity struct {
	Lineage string
	Serial  uint64
	Version string
}

// OnClose adds a function that Close calls, before those that were added earlier.
func (o *Operation) OnClose(f func()) { o.closers = append(o.closers, f) }

// Close ends the providers, and calls the functions of OnClose. It does not release the state's lock, because
// nobody would notice a failure: see [Operation.Unlock]. Further calls do nothing.
func (o *Operation) Close() {
	closers := o.closers
	o.closers = nil
	for _, f := range slices.Backward(closers) {
		f()
	}
}

// OpenProviders finds the providers of a directory, and starts none. When ctx ends, their calls have the time
// grace to end before the processes are killed. Further calls do nothing.
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

// Schemas returns the schema of a provider, for rendering and saved plans; nil if it is not available. No
// context ends it, so an interrupt does not prevent a plan from being shown.
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

// Run returns the environment of a run of the engine. The caller adds directories, files, events and limits.
func (o *Operation) Run() engine.Run {
	return engine.Run{
		Config: o.Config, Providers: o.Providers, Variables: o.Variables, Given: o.Given, InvalidVariables: o.Invalid,
		Workspace: o.Workspace, Analysis: &o.analysis, Budget: o.Budget,
	}
}
