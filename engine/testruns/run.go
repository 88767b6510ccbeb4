package testruns

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/testfiles"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/internal/traversals"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A run is a run block of a test file, while it is carried out.
type run struct {
	*file
	*testfiles.Run
	index int

	begun   engine.Run // environment that the run plans and applies with; kept for destroying the objects
	variant *variant
	result  *events.TestRunResult
}

// config returns the configuration that the run tests: the module that it names, else the configuration under
// test.
func (r *run) config() *config.Config {
	if r.Run.Config != nil {
		return r.Run.Config
	}
	return r.in.Config
}

// key returns the key of the run's state. Each module that runs call has a state of its own.
func (r *run) key() string {
	switch {
	case r.StateKey != "":
		return "key " + r.StateKey
	case r.Module != nil:
		return "module " + r.Module.Address.String()
	}
	return ""
}

// carryOut carries out the run, and sends its events to the listener.
func (r *run) carryOut(ctx context.Context) {
	r.result = &r.file.result.Runs[r.index]
	r.result.Run = r.Run
	done := events.Test{Kind: events.TestRunDone, File: r.File, Run: r.Run}
	if ctx.Err() != nil || r.broken() {
		r.result.Status = events.TestSkip
		done.Status = events.TestSkip
		r.send(done)
		return
	}
	r.processes.renew()
	r.send(events.Test{Kind: events.TestRunStarted, File: r.File, Run: r.Run})
	r.result.Started, r.result.Status = time.Now(), events.TestPass
	ds := r.test(ctx, &done).Distinct() // The plan and the apply may return the same warnings.
	if ctx.Err() != nil {
		ds = append(ds, diags.Errorf(nil, "Test interrupted", "The run was interrupted. Lockstep skips the other runs, and destroys what was made.")...)
	}
	if ds.HasErrors() && r.result.Status != events.TestFail {
		r.result.Status = events.TestError
	}
	r.result.Elapsed, r.result.Diagnostics = time.Since(r.result.Started), ds
	r.worsen(r.result.Status)
	done.Status, done.Elapsed, done.Diagnostics = r.result.Status, r.result.Elapsed, ds
	r.send(done)
}

// test plans or applies, and checks the assertions and the expected failures.
func (r *run) test(ctx context.Context, done *events.Test) (ds diags.Diagnostics) {
	if ds = r.open(); ds.HasErrors() {
		return ds
	}
	options, more := r.options()
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	expected, more := r.expectations()
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	st := r.state(r.key())
	analysis := r.variant.take()
	defer r.variant.give(analysis)
	environment := r.begun
	environment.Analysis = analysis
	plan, found := engine.Plan(ctx, environment, st.state, options)
	r.place(found)
	r.coverage.note(r, plan)
	if r.PlanOnly {
		return append(ds, r.planned(ctx, environment, plan, expected.judge(found), done)...)
	}
	if found.HasErrors() || plan == nil {
		return append(append(ds, found...), expected.early(found)...)
	}
	ds = append(ds, found.WithoutChecks()...)
	found = r.apply(ctx, environment, st, plan)
	r.file.mu.Lock()
	st.last = r
	r.file.mu.Unlock()
	if ds = append(ds, expected.judge(found)...); ds.HasErrors() {
		return ds
	}
	if r.in.Verbose {
		done.Config, done.State = environment.Config, st.state
	}
	outputs := map[string]cty.Value{}
	for name, o := range st.state.Outputs() {
		outputs[name] = sensitive(o.Value, o.Sensitive)
	}
	r.keep(outputs)
	if len(r.Asserts) == 0 {
		return ds
	}
	ev, _, more := engine.Evaluator(ctx, environment, withEmpty(environment.Config, st.state, plan))
	return append(append(ds, more...), r.asserts(ev, outputs)...)
}

// withEmpty returns the state with an empty entry for each resource for which the plan has no instances. An
// assertion can then refer to the resource: its value is empty, not unknown. The result is read only.
func withEmpty(cfg *config.Config, st *states.State, plan *plans.Plan) *states.State {
	e := st.Edit()
	for abs, keys := range plan.Instances.Resources {
		if m := cfg.Modules[abs.Module.Module()]; len(keys) == 0 && m != nil && m.Resources[abs.Resource] != nil {
			e.SetProvider(abs, m.ResourceProvider(m.Resources[abs.Resource]))
		}
	}
	return e.State()
}

// place makes errors about values of variables point to the place in the test file that sets the value.
func (r *run) place(ds diags.Diagnostics) {
	for i := range ds {
		name, ok := strings.CutPrefix(ds[i].Failed, "var.")
		if x, _ := r.expression(name, ofRun); ok && x != nil {
			at := x.Range()
			ds[i].Subject = &at
		}
	}
}

// planned checks the assertions and the expected failures of a run that only plans.
func (r *run) planned(ctx context.Context, environment engine.Run, plan *plans.Plan, ds diags.Diagnostics, done *events.Test) diags.Diagnostics {
	if ds.HasErrors() || plan == nil {
		return ds
	}
	if r.in.Verbose {
		done.Config, done.Plan = environment.Config, plan
	}
	outputs := map[string]cty.Value{}
	for _, o := range plan.Outputs {
		if o.Action != plans.Delete && o.After != cty.NilVal {
			outputs[o.Name] = sensitive(o.After, o.Sensitive)
		}
	}
	r.keep(outputs)
	if len(r.Asserts) == 0 {
		return ds
	}
	ev, _, more := engine.PlannedEvaluator(ctx, environment, plan)
	return append(append(ds, more...), r.asserts(ev, outputs)...)
}

// keep stores the run's outputs, to which later runs may refer.
func (r *run) keep(outputs map[string]cty.Value) {
	r.file.mu.Lock()
	defer r.file.mu.Unlock()
	if r.file.outputs == nil {
		r.file.outputs = map[string]cty.Value{}
	}
	all := map[string]cty.Value{}
	for name := range r.begun.Config.Root.Outputs {
		if all[name] = outputs[name]; outputs[name] == cty.NilVal {
			all[name] = cty.NullVal(cty.DynamicPseudoType)
		}
	}
	r.file.outputs[r.Name] = cty.ObjectVal(all)
}

// asserts evaluates the assertions of the run.
func (r *run) asserts(ev *eval.Evaluator, outputs map[string]cty.Value) (ds diags.Diagnostics) {
	if ev == nil {
		return nil
	}
	for name, o := range r.begun.Config.Root.Outputs {
		if o.Ephemeral { // An ephemeral output is neither in the plan nor in the state.
			v, more := ev.Output(addrs.RootModuleInstance, name)
			if !more.HasErrors() {
				outputs[name] = sensitive(v, o.Sensitive)
			}
		}
	}
	for _, c := range r.Asserts {
		extra, more := r.scope(outputs, c.Condition, c.ErrorMessage)
		if ds = append(ds, more...); more.HasErrors() {
			r.result.Status = events.TestError
			continue
		}
		x := ev.Assert(c, eval.Scope{Module: addrs.RootModuleInstance, Extra: extra})
		if own := x.Diags.Unreported(); own.HasErrors() || !x.Diags.HasErrors() {
			ds = append(ds, own...)
		} else {
			ds = append(append(ds, own...), ev.Diagnostics()...)
		}
		at := c.Condition.Range()
		switch x.Status {
		case eval.Pass:
		case eval.Fail:
			d := diags.Errorf(&at, events.TestAssertionFailed, "%s", x.Message)
			d[0].Expression, d[0].EvalContext = c.Condition, x.Context
			ds = append(ds, d...)
			r.result.Status = max(r.result.Status, events.TestFail)
			r.result.Failed++
		case eval.Unknown:
			d := diags.Errorf(&at, "Unknown condition value", "The condition depends on values that the plan does not know yet. Use command = apply, or refer to values that a plan knows.")
			d[0].Expression, d[0].EvalContext = c.Condition, x.Context
			ds = append(ds, d...)
			r.result.Status = events.TestError
		default:
			if !ds.HasErrors() {
				ds = append(ds, diags.Errorf(&at, "Condition could not be evaluated", "Something that the condition refers to has no value.")...)
			}
			r.result.Status = events.TestError
		}
	}
	return ds
}

// options returns the options of the run's plan.
func (r *run) options() (o engine.PlanOptions, ds diags.Diagnostics) {
	o.Mode, o.SkipRefresh, o.Private = plans.NormalMode, r.Options.SkipRefresh, true
	if r.Options.RefreshOnly {
		o.Mode = plans.RefreshOnlyMode
	}
	for _, t := range r.Options.Target {
		target, hs := traversals.Target(t)
		ds = append(ds, diags.FromHCL(hs)...)
		o.Targets = append(o.Targets, target)
	}
	for _, t := range r.Options.Replace {
		target, hs := traversals.Target(t)
		ds = append(ds, diags.FromHCL(hs)...)
		if !hs.HasErrors() && (target.IsModule() || target.Resource.Mode != addrs.Managed) {
			ds = append(ds, diags.Errorf(t.SourceRange().Ptr(), "Invalid address", "Only instances of managed resources can be replaced, and %s is not one. Remove it from the argument replace.", target)...)
		}
		o.ForceReplace = append(o.ForceReplace, addrs.AbsResourceInstance{Module: target.Module, Resource: addrs.ResourceInstance{Resource: target.Resource, Key: target.Key}})
	}
	return o, ds
}

// destroy destroys everything in a state, with the environment of the run. An interrupt of the test does not
// stop the destruction.
func (r *run) destroy(ctx context.Context, st *stored) diags.Diagnostics {
	r.processes.renew()
	ctx = context.WithoutCancel(ctx)
	environment := r.begun
	analysis := r.variant.take()
	defer r.variant.give(analysis)
	environment.Analysis = analysis
	plan, ds := engine.Plan(ctx, environment, st.state, engine.PlanOptions{Mode: plans.DestroyMode, SkipRefresh: true, Unprotected: true})
	ds = ds.WithoutChecks()
	if ds.HasErrors() || plan == nil {
		return ds
	}
	return append(ds, r.apply(ctx, environment, st, plan).WithoutChecks()...)
}

// apply applies a plan to a state of the file, and stores the new state.
func (r *run) apply(ctx context.Context, environment engine.Run, st *stored, plan *plans.Plan) (ds diags.Diagnostics) {
	if st.kept = r.in.Apply != nil && (st.kept || slices.ContainsFunc(plan.Changes, r.real)); st.kept {
		st.state, ds = r.in.Apply(ctx, r.File.Name+" "+r.key(), environment, plan)
		return ds
	}
	result, ds := engine.Apply(ctx, environment, plan, engine.ApplyOptions{})
	st.state = result.State
	return ds
}

// real reports whether a real provider makes the change, not a mock or an override.
func (r *run) real(c *plans.ResourceChange) bool {
	if c.Action == plans.NoOp || c.Action == plans.Read || c.Provider.Provider.IsBuiltin() {
		return false
	}
	block := r.variant.block(c.Provider)
	return block == nil || !block.Mocked
}
