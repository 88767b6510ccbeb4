// Package operation runs one operation on one state: a plan, an apply, or an edit. It opens the state first,
// and saves it last. The command line and the pipeline's executor both use it.
//
// An [Operation] has everything that is open, and calls the engine with it. The callers of the package make all
// decisions: about directories, sources of variables, allowed backends and providers, messages about locks, and
// what happens to a state that its backend refused. They pass what they have opened. Start reading at
// [Operation].
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
	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend/journal"
)

// An Operation has one configuration, one state, and the providers that both need. The caller sets the exported
// fields in the order of their declaration: directly, or by the methods. The zero value is ready for use. An
// Operation must be closed. Only one goroutine may use it.
type Operation struct {
	// Config is the configuration; nil for an operation that only reads or edits the state.
	Config *config.Config
	// Language is the version of the language of the configuration. States and plans record it. Set it before the
	// configuration is loaded.
	Language language.Version
	// Variables, Given and Invalid are the values of the root module's variables, as in [engine.Run].
	Variables map[string]cty.Value
	Given     map[string]cty.Value
	Invalid   map[string]diags.Diagnostics
	// Budget limits the evaluation of expressions. nil means that each run has its own budget with the default
	// limits.
	Budget *budget.Budget

	// Settings are the settings of the backend.
	Settings *workdir.Settings
	// Workspace is the name of the workspace in expressions (terraform.workspace). The backend may use a
	// different name.
	Workspace string
	// Journaled is set if an apply keeps a journal beside the state, if the backend can store one. OpenState
	// then also recovers the state from the journal of an apply that crashed.
	Journaled bool
	// Planned is the [PlanID] of the saved plan to apply; "" if there is none. Set it before OpenState. If the
	// journal is that of an apply of this plan, OpenState does not recover from it. It sets Begun, and Apply
	// continues the journal.
	Planned string
	// Ended is called with the result of an apply, after the state is stored and before the journal is deleted.
	// If Ended returns an error, the journal is kept. Ended may be nil.
	Ended func(Applied, diags.Diagnostics) error
	// Counting is called with the tally of an apply before the apply begins its first action. Counting may be nil.
	Counting func(*Tally)
	// OpenState sets State, Recovery and Begun.
	State    *workdir.State
	Recovery Recovery
	Begun    *Begun
	// Opened identifies the state that OpenState has read, including results that are only in a journal. It
	// does not matter whether the recovered state is already stored.
	Opened Identity
	// Providers is set by OpenProviders.
	Providers *workdir.Providers

	left [][]byte // journal records at the recovery of the state
	// the journal as last read under our lock; nil if it was not read, or if this process has written to it
	// since
	history  *journal.History
	journals int // the number of opened journals

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

// Close stops the providers, and calls the functions that were added with OnClose. It does not release the lock
// of the state, because it cannot report an error: see [Operation.Unlock]. A second call does nothing.
func (o *Operation) Close() {
	closers := o.closers
	o.closers = nil
	for _, f := range slices.Backward(closers) {
		f()
	}
}

// OpenProviders finds the providers installed for a directory, without starting them. When ctx ends, the
// providers' calls in progress must end within grace; then their processes are killed. A second call does
// nothing.
func (o *Operation) OpenProviders(ctx context.Context, d *workdir.Dir, options workdir.PoolOptions, grace time.Duration) diags.Diagnostics {
	if o.Providers != nil {
		return nil
	}
	options.Language = o.Language
	pool, ds := d.OpenProviders(options)
	if ds.HasErrors() {
		return ds
	}
	o.Providers = pool
	o.OnClose(func() { pool.Close() })
	o.OnClose(pool.Guard(ctx, grace))
	return ds
}

// Schemas returns the schema of a provider, for rendering and saved plans; nil if it is not available. It has
// no context, because a plan must be shown even after an interrupt.
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
	var versions map[addrs.Provider]string
	if o.Providers != nil {
		versions = o.Providers.Versions()
	}
	return engine.Run{
		Versions: versions,
		Config:   o.Config, Providers: o.Providers, Variables: o.Variables, Given: o.Given, InvalidVariables: o.Invalid,
		Workspace: o.Workspace, Analysis: &o.analysis, Budget: o.Budget,
	}
}
