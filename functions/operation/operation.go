// Package operation is one operation on one state: a plan, an apply, or an edit, from the opening of
// the state to its last save. The command line and the executor of the pipeline share it.
//
// An [Operation] holds everything that is open, and calls the engine with it. It refuses to know
// policy: whose directory it works in, where variables come from, which backend and which providers
// are allowed, which words a person reads about a lock, the fate of a state that its backend did
// not take. Its users decide that, and pass what they have opened. Start at [Operation].
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

// An Operation holds one configuration, one state, and the providers of both. Its user fills in the
// exported fields in the order of their declaration, by hand or by the methods. The zero value is
// ready for that; it must be closed, and is for one goroutine.
type Operation struct {
	// Config is nil for an operation that reads or edits the state only.
	Config *config.Config
	// Variables, Given and Invalid are the values of the root module's variables, as in [engine.Run].
	Variables map[string]cty.Value
	Given     map[string]cty.Value
	Invalid   map[string]diags.Diagnostics
	// Budget bounds evaluations; nil: each run has a generous one of its own.
	Budget *budget.Budget

	// Settings are those of the backend.
	Settings *workdir.Settings
	// Workspace is the name that the configuration sees. In the backend, the workspace may have
	// another one.
	Workspace string
	// Journaled has applies keep a journal beside the state, where the backend can keep one, and
	// OpenState recover from the one that a crashed apply has left.
	Journaled bool
	// Planned names the saved plan that is going to be applied, see [PlanID]; "" if there is none. It
	// is set before OpenState: a journal of that very plan is not recovered but left for Apply to go
	// on with, and Begun tells so.
	Planned string
	// Ended is told the result of an apply once its state is stored, and before its journal is removed; may be nil. After an
	// error the journal stays.
	Ended func(Applied, diags.Diagnostics) error
	// State is set by OpenState, and so are Recovery and Begun.
	State    *workdir.State
	Recovery Recovery
	Begun    *Begun
	// Opened is the state as OpenState has read it, together with the results that only a journal
	// has: it is the same before a recovery is stored and after it was.
	Opened Identity
	// Providers is set by OpenProviders.
	Providers *workdir.Providers

	left     [][]byte         // records of the journal, when the state was recovered
	history  *journal.History // the journal then, if nothing was written to it since under our lock; nil: not known
	journals int              // that were opened

	analysis engine.Analysis // of Config, shared by all runs
	closers  []func()
}

// An Identity tells states apart. It is zero for no state.
type Identity struct {
	Lineage string
	Serial  uint64
	Version string
}

// OnClose adds a function that Close calls, before those that were added earlier.
func (o *Operation) OnClose(f func()) { o.closers = append(o.closers, f) }

// Close ends the providers, and whatever OnClose was given. It does not release the state's lock,
// since nobody would see that it failed: see [Operation.Unlock]. Further calls do nothing.
func (o *Operation) Close() {
	closers := o.closers
	o.closers = nil
	for _, f := range slices.Backward(closers) {
		f()
	}
}

// OpenProviders finds the providers of a directory, and starts none. When ctx ends, their calls may
// take grace to come to an end, before the processes are killed. Further calls do nothing.
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

// Schemas returns the schema of a provider, for rendering and saved plans; nil if it cannot be had.
// An interrupt does not keep a plan from being shown, so that no context ends this.
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

// Run returns the environment of a run of the engine. Directories, files, events and limits are the
// caller's to add.
func (o *Operation) Run() engine.Run {
	return engine.Run{
		Config: o.Config, Providers: o.Providers, Variables: o.Variables, Given: o.Given, InvalidVariables: o.Invalid,
		Workspace: o.Workspace, Analysis: &o.analysis, Budget: o.Budget,
	}
}
