package engine

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/digests"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/funcs"
	"github.com/lockstep-iac/lockstep/engine/generating"
	"github.com/lockstep-iac/lockstep/engine/internal/applying"
	"github.com/lockstep-iac/lockstep/engine/internal/planning"
	"github.com/lockstep-iac/lockstep/engine/internal/planning/importing"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/internal/validating"
	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provisioning"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// LanguageVersion is the version of the Terraform language that the engine implements. required_version
// constraints are checked against it, and states record it.
const LanguageVersion = states.LanguageVersion

// A Run is the input of every operation on a configuration.
type Run struct {
	Config    *config.Config
	Providers session.Providers
	// Variables are the values of the root module's variables, converted to their types; see inputs.Values.
	Variables map[string]cty.Value
	// InvalidVariables are the errors of variables whose values do not have the declared type, by name. A
	// plan reports them.
	InvalidVariables map[string]diags.Diagnostics
	// Given are the values of Variables before conversion, without ephemeral variables that have their
	// default. It is nil if the caller did not keep them.
	Given map[string]cty.Value
	// Unkept are the names of further variables whose values the plan does not store, as with ephemeral
	// variables.
	Unkept []string
	// WorkingDir is the value of path.cwd: the directory where the user started the command. The option
	// -chdir does not change it.
	WorkingDir string
	// BaseDir is the root module's directory, from which relative paths of file functions
	// start; "" means WorkingDir.
	BaseDir   string
	Workspace string // "" means "default"
	// Files are the files that functions may read; nil means the machine's whole file system.
	Files funcs.Files
	// Parallelism is how many provider calls may be under way at once; 0 means 10.
	Parallelism int
	// ProviderParallelism returns how many calls to a provider may be under way at once, in all its
	// configurations together. 0 means that only Parallelism limits them, and a nil function means 0 for all
	// providers. A waiting call does not delay the calls of other providers.
	ProviderParallelism func(addrs.Provider) int
	// Versions identify the providers: their versions and the checksums of their packages. They are needed for
	// [PlanOptions.Affected]. A provider that is not here may be another program in each run.
	Versions map[addrs.Provider]string
	Events   events.Listener
	// LocalExec runs the commands of local-exec provisioners. If it is nil, an apply that would have to run a
	// command is refused before it begins.
	LocalExec provisioning.Runner
	// Analysis is shared by the operations of a process on one configuration. If it is nil, each operation
	// does its own analysis.
	Analysis *Analysis
	// Budget limits the values of one run, and knows the expression under evaluation. If it is nil, an
	// operation uses the budget of the context, or a generous one of its own.
	Budget *budget.Budget
}

// An Analysis keeps the results of analysing and validating a configuration, so that the apply that follows a
// plan need not repeat them. The zero value is empty. Operations that run at the same time must not share an
// Analysis.
type Analysis struct {
	cfg      *config.Config
	refs     *refs.Refs
	ds       diags.Diagnostics
	bodies   *session.Bodies
	findings *validating.Findings
	checked  *digests.Checked // of the first plan that was to read only what is affected
	unused   map[*config.Provider]bool
}

// analyze returns the analysis of the configuration for a state, which may be nil. If there are errors, do
// not use the analysis.
func (r Run) analyze(state *states.State) (*Analysis, diags.Diagnostics) {
	a := r.Analysis
	if a == nil {
		a = new(Analysis)
	}
	if a.cfg != r.Config {
		*a = Analysis{cfg: r.Config, bodies: new(session.Bodies)}
		a.unused = unusedProviders(r.Config, state)
		a.refs, a.ds = refs.AnalyzeWithout(r.Config, a.unused)
	}
	return a, slices.Clip(a.ds)
}

// validate returns the errors of the configuration that no input could avoid. Only the first call validates;
// later calls return the same findings.
func (a *Analysis) validate(ctx context.Context, r Run) *validating.Findings {
	if a.findings == nil {
		found := validating.Validate(ctx, validating.Input{
			Environment: r.environment(ctx, a, r.functions(time.Time{})), Unused: a.unused, Checked: a.checked,
		})
		a.findings = &found
	}
	return a.findings
}

// PlanOptions select what to plan, such as a destroy or a refresh only.
type PlanOptions struct {
	Mode        plans.Mode // 0 means normal
	SkipRefresh bool
	// Affected makes the plan read only the objects that its changes can affect. A plan that destroys, refreshes
	// only or invokes an action reads everything, and so does a plan without [Run.Versions]. nil means that the
	// plan reads everything.
	Affected *Affected
	// Targets and Excludes limit the plan to a part of the configuration: to the targets and their
	// dependencies, or to everything except the excludes and their dependents. At most one of them may be
	// set.
	Targets, Excludes []addrs.Target
	// Waiting are excluded in the same way as Excludes, but no option of the user names them: see
	// [plans.Plan.Waiting].
	Waiting      []addrs.Target
	ForceReplace []addrs.AbsResourceInstance
	// Invoke is an action, or one instance of an action. The plan invokes this action and changes nothing else.
	// The zero value means no action.
	Invoke addrs.AbsResourceInstance
	// Found are the objects that an earlier call of [Generate] has read for import blocks.
	Found Found
	// Unprotected destroys objects although prevent_destroy is set for them. It is for the objects of tests.
	Unprotected bool
	// Private reports that only this process uses the state, as in a test. There is then no warning about other
	// tools that cannot read it.
	Private bool
}

// Affected has the digests of the last apply: see [planning.Affected].
type Affected = planning.Affected

// Found has the objects that [Generate] has read for import blocks, and its failures. A plan with the
// generated blocks then neither reads the objects again nor reports the missing blocks a second time.
type Found = importing.Found

// Plan compares the configuration with a state and returns the necessary changes. If the configuration has
// errors that no input could avoid, Plan returns no plan. With other errors it returns a plan that is marked as
// errored. Exception: there is no plan for a destroy if the existing objects could not be read.
func Plan(ctx context.Context, r Run, state *states.State, o PlanOptions) (_ *plans.Plan, ds diags.Diagnostics) {
	r, end := r.within(ctx, &ds, 0)
	defer end()
	if o.Mode == 0 {
		o.Mode = plans.NormalMode
	}
	if o.Invoke != (addrs.AbsResourceInstance{}) {
		o.Mode = plans.RefreshOnlyMode
	}
	if o.SkipRefresh || o.Mode != plans.NormalMode {
		o.Affected = nil
	}
	a, ds := r.validFor(ctx, state, o.Affected)
	if ds.HasErrors() {
		return nil, ds
	}
	now := time.Now().UTC()
	plan, more := planning.Plan(ctx, planning.Input{
		Environment: r.environment(ctx, a, r.functions(now)), State: state,
		Variables: r.Variables, EphemeralVariables: r.ephemeralVariables(), Given: r.Given, InvalidVariables: r.InvalidVariables,
		Mode: o.Mode, SkipRefresh: o.SkipRefresh, Affected: o.Affected, Targets: o.Targets, Excludes: slices.Concat(o.Excludes, o.Waiting), Waiting: o.Waiting, ForceReplace: o.ForceReplace, Invoke: o.Invoke, Found: o.Found, Unprotected: o.Unprotected, Private: o.Private,
		Timestamp: now,
	})
	return plan, append(ds, more...).Distinct()
}

// PlannedVariables returns the variables that a plan was made with, converted to their types. Ephemeral
// variables are left out.
func PlannedVariables(c *config.Config, plan *plans.Plan) (map[string]cty.Value, diags.Diagnostics) {
	out := map[string]cty.Value{}
	var ds diags.Diagnostics
	for name, given := range plan.Variables {
		v := c.Root.Variables[name]
		if v == nil {
			continue
		}
		val, err := v.Prepare(given)
		if err != nil {
			ds = append(ds, diags.Errorf(&v.Range, "Invalid value for input variable", "The plan's value for the variable %q does not fit its type: %s.", name, err)...)
			continue
		}
		out[name] = val
	}
	return out, ds
}

// ApplyOptions say how to store the state during an apply, and how to continue an apply; see applying.Input.
type ApplyOptions struct {
	Journal   *journaling.Journal
	Progress  *journaling.Progress
	Save      func(context.Context, *states.State) error
	SaveEvery time.Duration
	SaveSoon  bool
}

// Apply carries out a plan that [Plan] made for the same configuration, or the rest of such a plan. It
// returns the new state, even with errors.
//
// An interrupted apply ends in three stages. When ctx ends, no new action begins; calls under way continue.
// Later, at a moment that the provider pool decides (see provider.Pool.Guard), providers are asked to stop,
// and answer with what they have done. Guard kills providers that do not answer within a grace period. In the
// journal, the calls of killed providers have an intent, but no outcome.
func Apply(ctx context.Context, r Run, plan *plans.Plan, o ApplyOptions) (_ applying.Result, ds diags.Diagnostics) {
	r, end := r.within(ctx, &ds, StepsToEnd)
	defer end()
	a, ds := r.valid(ctx, plan.PrevRunState)
	before := applying.Result{State: plan.PriorState}
	if o.Progress != nil {
		before.State = o.Progress.State
	}
	if ds.HasErrors() {
		return before, ds
	}
	ds = append(slices.Clip(a.ds), a.findings.Again(r.Config, a.refs, changing(plan))...)
	variables := r.Variables
	if variables == nil {
		var more diags.Diagnostics
		if variables, more = PlannedVariables(r.Config, plan); more.HasErrors() {
			return before, append(ds, more...)
		}
	}
	var impure atomic.Int64
	scope := r.scope(plan.Timestamp)
	scope.Impure = func() { impure.Add(1) }
	result, more := applying.Apply(ctx, applying.Input{
		Environment: r.environment(ctx, a, funcs.Table(scope)), Plan: plan, Variables: variables,
		LocalExec: r.LocalExec, Journal: o.Journal, Progress: o.Progress, ImpureCalls: impure.Load, Save: o.Save, SaveEvery: o.SaveEvery, SaveSoon: o.SaveSoon,
	})
	return result, append(ds, more...).Distinct()
}

// changing returns a function that reports whether the plan creates, updates or replaces an instance of a
// block.
func changing(plan *plans.Plan) func(addrs.ConfigResource) bool {
	made := map[addrs.ConfigResource]bool{}
	for _, c := range plan.Changes {
		if c.Action == plans.Create || c.Action == plans.Update || c.Action.IsReplace() {
			made[c.Addr.Instance.Config()] = true
		}
	}
	return func(cr addrs.ConfigResource) bool { return made[cr] }
}

func (r Run) workspace() string {
	if r.Workspace == "" {
		return "default"
	}
	return r.Workspace
}

func (r Run) baseDir() string {
	if r.BaseDir == "" {
		return r.WorkingDir
	}
	return r.BaseDir
}

// functions returns the built-in functions for every operation except an apply. Impure functions, such as uuid,
// return unknown values there.
func (r Run) functions(planned time.Time) map[string]function.Function {
	s := r.scope(planned)
	s.PureOnly = true
	return funcs.Table(s)
}

func (r Run) scope(planned time.Time) funcs.Scope {
	return funcs.Scope{BaseDir: r.baseDir(), Files: r.Files, Now: time.Now, PlanTimestamp: planned, Language: r.Config.Language, Budget: r.Budget}
}

// ephemeralVariables returns the names of root variables whose values are not stored in the plan. An apply
// must get their values again.
func (r Run) ephemeralVariables() []string {
	var out []string
	for name, v := range r.Config.Root.Variables {
		if slices.Contains(r.Unkept, name) {
			out = append(out, name)
		} else if _, given := r.Given[name]; v.Ephemeral && (given || r.Given == nil) {
			out = append(out, name)
		}
	}
	return out
}

// Validate returns all errors that the configuration has whatever its input is. The providers are not
// configured.
func Validate(ctx context.Context, r Run) (ds diags.Diagnostics) {
	r, end := r.within(ctx, &ds, 0)
	defer end()
	_, ds = r.valid(ctx, nil)
	return ds
}

// valid analyses and validates the configuration. After references to objects that do not exist, it still
// looks for other errors; after cycles it does not.
func (r Run) valid(ctx context.Context, state *states.State) (*Analysis, diags.Diagnostics) {
	return r.validFor(ctx, state, nil)
}

// validFor is [Run.valid] for a plan with these options, which may be nil. It sets their field Checked.
func (r Run) validFor(ctx context.Context, state *states.State, o *Affected) (*Analysis, diags.Diagnostics) {
	a, ds := r.analyze(state)
	if o != nil {
		if a.checked == nil {
			a.checked = digests.NewChecked(o.Record)
		}
		o.Checked = a.checked
	}
	if a.refs.Cyclic() {
		return a, ds
	}
	more := a.validate(ctx, r).All()
	if ds.HasErrors() {
		more = more.Outside(ds)
	}
	return a, append(ds, more...)
}

// Import adds one existing object to the state: the object with this ID becomes the instance addr. It returns
// the state, even with errors.
func Import(ctx context.Context, r Run, state *states.State, addr addrs.AbsResourceInstance, id string) (_ *states.State, ds diags.Diagnostics) {
	r, end := r.within(ctx, &ds, StepsToEnd)
	defer end()
	a, ds := r.analyze(state)
	if ds.HasErrors() {
		return state, ds
	}
	next, more := planning.Import(ctx, r.input(ctx, a, state), addr, id)
	return next, append(ds, more...)
}

// Generate writes resource blocks for the objects of import blocks whose resource block is missing: see
// [importing.Generate].
func Generate(ctx context.Context, r Run, state *states.State) (_ []generating.Generated, _ Found, ds diags.Diagnostics) {
	r, end := r.within(ctx, &ds, 0)
	defer end()
	a, ds := r.analyze(state)
	if ds.HasErrors() {
		return nil, Found{}, ds
	}
	blocks, found, more := importing.Generate(ctx, importing.Lack{
		Environment: r.environment(ctx, a, r.functions(time.Time{})), State: state, Variables: r.Variables,
	})
	return blocks, found, append(ds, more...)
}

// input returns the input of package planning for operations that make no plan.
func (r Run) input(ctx context.Context, a *Analysis, state *states.State) planning.Input {
	return planning.Input{
		Environment: r.environment(ctx, a, r.functions(time.Time{})),
		State:       state, Variables: r.Variables, Mode: plans.NormalMode,
	}
}

// environment returns the environment of an operation. table has the built-in functions for the operation.
func (r Run) environment(ctx context.Context, a *Analysis, table map[string]function.Function) session.Environment {
	return session.Environment{
		Program: eval.Program{
			Config: r.Config, Refs: a.refs,
			Functions: table, ModuleFunctions: session.ModuleFunctions(ctx, r.Config, r.Providers, table),
			RootDir: r.Config.Root.Dir, WorkingDir: r.WorkingDir, Workspace: r.workspace(), Budget: r.Budget,
		},
		Providers: r.Providers, Bodies: a.bodies, Events: r.Events, Parallelism: r.Parallelism, ProviderParallelism: r.ProviderParallelism, Versions: r.Versions,
	}
}
