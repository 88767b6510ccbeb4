// Package testruns carries out the runs of test files. Each run plans, or plans and applies, the configuration under test
// or a module, and compares the result with conditions. At the end of a file the package destroys everything that
// its runs have made.
//
// It uses the engine as a command does, and adds three things: the values of variables that refer to earlier runs, provider
// configurations of test files, and mocks, which take the place of providers and of single objects. It refuses to know how a
// result is shown: it sends an [events.Test] for each step. Start at [Run].
package testruns

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/config/testfiles"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/funcs"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/walk"
)

// Input is what [Run] needs.
type Input struct {
	Config *config.Config // the configuration under test
	Files  []*testfiles.File
	// Base is the environment of all runs: providers, directories, limits. Its configuration, variables and
	// events are not used.
	Base engine.Run
	// SourcesOf returns the values of variables from outside the test files, lowest precedence first, for one
	// file.
	SourcesOf func(*testfiles.File) []inputs.Source
	// RunParallelism is the number of parallel runs that may be in progress at once; 0 means 10.
	RunParallelism int
	// Apply applies a plan that changes objects of real providers. It stores the new state and its calls in
	// progress in a place that survives this process. key names the state among the states of all files. Apply
	// returns the new state even with errors. If Apply is nil, states are only in memory.
	Apply func(ctx context.Context, key string, r engine.Run, plan *plans.Plan) (*states.State, diags.Diagnostics)
	// Renew, if it is not nil, replaces providers' processes that are gone. It is called before each run, so a provider
	// that crashes fails one run only.
	Renew func()
	// Budget makes the budget of one run; if it is nil, all runs share the budget of Base.
	Budget func() *budget.Budget
	// Verbose adds plans and states to events.
	Verbose bool
	// MocksOnly refuses runs that need a provider without a mock. Built-in providers are allowed: they reach
	// nothing outside of this process.
	MocksOnly bool
	// Listener is called for each step, one call at a time.
	Listener func(events.Test)
}

// Run carries out all files in order. When ctx ends, Run interrupts the runs in progress and skips the
// others. It still destroys the objects that were made.
func Run(ctx context.Context, in Input) ([]events.TestFileResult, events.TestCoverage) {
	s := &suite{in: in, salt: rand.Text(), processes: &processes{providers: in.Base.Providers, renewPool: in.Renew}, variants: map[variantKey]*variant{}, coverage: newCoverage()}
	s.in.RunParallelism = cmp.Or(in.RunParallelism, 10)
	s.functions = funcs.Table(funcs.Scope{BaseDir: cmp.Or(in.Base.BaseDir, in.Base.WorkingDir), Files: in.Base.Files, Now: time.Now, Budget: budget.Generous()})
	var out []events.TestFileResult
	for _, f := range in.Files {
		out = append(out, s.file(ctx, f))
	}
	return out, s.coverage.result(in.Config)
}

// file carries out one test file.
func (s *suite) file(ctx context.Context, tf *testfiles.File) events.TestFileResult {
	f := &file{suite: s, File: tf, states: map[string]*stored{}, sources: s.in.SourcesOf(tf)}
	f.result = events.TestFileResult{File: tf, Status: events.TestPass, Runs: make([]events.TestRunResult, len(tf.Runs))}
	s.send(events.Test{Kind: events.TestFileStarted, File: tf})
	for i, r := range tf.Runs {
		f.runs = append(f.runs, &run{file: f, Run: r, index: i})
	}
	ds := f.checkMocks(ctx)
	if ds.HasErrors() {
		f.result.Status = events.TestError
	}
	walk.Run(context.WithoutCancel(ctx), s.in.RunParallelism, f.order(), func(_ context.Context, n int) error {
		f.runs[n].carryOut(ctx)
		return nil
	})
	s.send(events.Test{Kind: events.TestFileTearingDown, File: tf})
	ds = append(ds, f.cleanUp(ctx)...)
	s.send(events.Test{Kind: events.TestFileDone, File: tf, Status: f.result.Status, Diagnostics: ds})
	return f.result
}

// order returns the order of the runs. A parallel run waits for earlier runs that it refers to or shares a
// state with. A run that is not parallel waits for all earlier runs, and all later runs wait for it.
func (f *file) order() walk.Graph {
	g := walk.Graph{N: len(f.runs), After: make([][]int32, len(f.runs))}
	begin := 0 // index of the last run that is not parallel, else of the first run
	for i, r := range f.runs {
		wanted := map[string]bool{}
		if r.Parallel() {
			wanted = r.referred()
		}
		for j := begin; j < i; j++ {
			x := f.runs[j]
			if !r.Parallel() || !x.Parallel() || x.key() == r.key() || wanted[x.Name] {
				g.After[i] = append(g.After[i], int32(j))
			}
		}
		if !r.Parallel() {
			begin = i
		}
	}
	return g
}

// stored is one of the states of a file.
type stored struct {
	state *states.State
	last  *run // the last run that has changed the state
	kept  bool // [Input.Apply] has stored the state
}

// state returns the state with a key; the first call creates it.
func (f *file) state(key string) *stored {
	f.mu.Lock()
	defer f.mu.Unlock()
	st := f.states[key]
	if st == nil {
		st = &stored{state: states.Empty()}
		f.states[key] = st
	}
	return st
}

// cleanUp destroys all objects that the runs of the file have made, in the states of later runs first. It returns the
// warnings that no run has reported.
func (f *file) cleanUp(ctx context.Context) (warnings diags.Diagnostics) {
	var list []*stored
	for _, st := range f.states {
		if st.last != nil && !st.state.IsEmpty() {
			list = append(list, st)
		}
	}
	slices.SortFunc(list, func(a, b *stored) int { return cmp.Compare(b.last.index, a.last.index) })
	for _, st := range list {
		f.send(events.Test{Kind: events.TestRunTearingDown, File: f.File, Run: st.last.Run})
		ds := st.last.destroy(ctx, st)
		left := managed(st.state)
		if len(left) > 0 && !ds.HasErrors() {
			ds = append(ds, diags.Errorf(nil, "Not everything was destroyed", "Objects are left after the destruction. Destroy them by hand.")...)
		}
		if ds.HasErrors() {
			f.result.Status = events.TestError
		}
		if len(left) == 0 && !ds.HasErrors() {
			warnings = append(warnings, ds...)
		} else {
			f.send(events.Test{Kind: events.TestLeft, File: f.File, Run: st.last.Run, Diagnostics: ds, Objects: left, State: st.state})
		}
	}
	var told diags.Diagnostics
	for _, r := range f.result.Runs {
		told = append(told, r.Diagnostics...)
	}
	told = told.Distinct()
	return append(slices.Clip(told), warnings...).Distinct()[len(told):]
}

// managed returns the managed objects of a state, by address.
func managed(st *states.State) []addrs.ResourceInstanceObject {
	var out []addrs.ResourceInstanceObject
	for abs, r := range st.Resources() {
		if abs.Resource.Mode != addrs.Managed {
			continue
		}
		for key, in := range r.Instances {
			if in.Current != nil {
				out = append(out, addrs.ResourceInstanceObject{Instance: abs.Instance(key)})
			}
			for deposed := range in.Deposed {
				out = append(out, addrs.ResourceInstanceObject{Instance: abs.Instance(key), Deposed: deposed})
			}
		}
	}
	slices.SortFunc(out, func(a, b addrs.ResourceInstanceObject) int {
		return cmp.Or(a.Instance.Compare(b.Instance), cmp.Compare(a.Deposed, b.Deposed))
	})
	return out
}
