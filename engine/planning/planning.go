// Package planning compares a configuration with what exists and says what would
// have to happen: configuration + prior state + providers -> [plans.Plan].
//
// It walks the resources and provider configurations of the configuration, each
// after what it mentions. The visit of a resource is the whole story of its
// instances: their keys, what is stored, what the provider reads, what the
// configuration wants, what the provider plans, and what becomes of instances
// that are no longer wanted. It changes nothing, and refuses to know in which
// order an apply will act (package order) and where a state is stored.
// Start at [Plan].
package planning

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/dependencies"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/refactoring"
	"github.com/lockstep-iac/lockstep/engine/session"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/targeting"
	"github.com/lockstep-iac/lockstep/engine/walk"
)

// Input is everything that a plan depends on.
type Input struct {
	session.Environment
	State *states.State // as it was read

	// Variables are the root module's, converted and without marks; those in
	// EphemeralVariables are named in the plan, but their values are not kept.
	Variables          map[string]cty.Value
	EphemeralVariables []string
	// InvalidVariables are the errors of variables whose values do not have the declared type:
	// nothing that depends on them is planned.
	InvalidVariables map[string]diags.Diagnostics
	// Given are the same values before conversion, which the plan keeps; nil: it keeps Variables.
	Given map[string]cty.Value

	Mode        plans.Mode
	SkipRefresh bool
	// Targets are what alone is planned, with what it depends on; Excludes are what alone is
	// not, with what depends on it. At most one of them is given.
	Targets, Excludes []addrs.Target
	// ForceReplace are the instances to replace even if an update would do.
	ForceReplace []addrs.AbsResourceInstance
	// Found is what [Generate] found out about objects to import, for which the
	// configuration has got its blocks since.
	Found     Found
	Timestamp time.Time // of the plan, as plantimestamp() gives it
}

// Plan makes the plan. It is returned beside errors too, marked as such, with
// what could be planned; nil if moved or removed blocks make no sense, if a provider
// configuration is gone that objects need, or if what is to be destroyed could not be planned otherwise.
func Plan(ctx context.Context, in Input) (*plans.Plan, diags.Diagnostics) {
	p := newPlanner(ctx, in)
	if !p.usual() {
		p.stored = &storedValues{p: p}
	}
	moved, ds := refactoring.Move(refactoring.Input{
		Config: in.Config, Was: in.State, Prior: p.prior,
		Convert: func(from, to addrs.AbsResourceInstance) diags.Diagnostics { return p.convert(ctx, from, to) },
	})
	p.moved = moved
	if p.usual() {
		ds = append(ds, refactoring.CheckRemoved(in.Config)...)
	}
	ds = append(ds, p.checkOrphans()...)
	if ds = append(ds, p.targeting.CheckMoves(p.moved.Origins)...); ds.HasErrors() {
		return nil, append(ds, p.targeting.Warnings()...)
	}
	p.report(ds)
	p.checkImports()
	p.selectPart()
	p.forced = p.deps.CreateBeforeDestroy(p.selected.HasBlock)
	p.walk(ctx)
	p.report(p.s.CloseEphemerals(context.WithoutCancel(ctx)))
	if ds := p.checkMoves(); ds.HasErrors() {
		return nil, append(ds, p.targeting.Warnings()...) // all else may be a mere consequence
	}
	return p.finish(ctx)
}

// selectPart applies -target and -exclude.
func (p *planner) selectPart() {
	in := targeting.Input{
		Options: p.targeting, Config: p.in.Config, Refs: p.in.Refs, Deps: p.deps,
		Was: p.in.State, Prior: p.prior.Current(),
	}
	p.selected = targeting.Select(in)
	if p.in.Mode == plans.DestroyMode {
		p.toDestroy = targeting.SelectDestroyed(in)
	}
}

// unselected reports whether a named value or a check block is left out, since nothing selected
// refers to it.
func (p *planner) unselected(o addrs.Object) bool { return !p.selected.HasObject(o) }

// planner is the planning of one plan.
type planner struct {
	in   Input
	s    *session.Session
	deps *dependencies.Graph

	// byConfig and orphans index the state: the resources of each block, and those
	// without a block.
	byConfig map[addrs.ConfigResource][]addrs.AbsResource
	// forced holds the blocks for which create-before-destroy is in force.
	forced map[addrs.ConfigResource]bool
	// nested are the data blocks in check blocks, with the names of these.
	nested    map[*config.Resource]string
	moved     *refactoring.Result
	targeting targeting.Options
	// selected is the part to plan; toDestroy is the part to destroy in a plan that destroys.
	selected, toDestroy *targeting.Selection
	// stored is set where nothing is planned: resources have the values of the state.
	stored *storedValues

	mu       sync.Mutex
	prior    *states.Editor
	values   map[addrs.AbsResource]cty.Value
	changes  []*plans.ResourceChange
	changeOf map[addrs.AbsResourceInstance]*plans.ResourceChange
	// changesOf holds the changes of resources that replace_triggered_by named, once they are planned.
	changesOf map[addrs.AbsResource][]*plans.ResourceChange
	drift     []*plans.ResourceChange
	pending   map[addrs.ConfigResource]bool
	// pendingAbs is pending by module instance.
	pendingAbs map[addrs.AbsResource]bool
	instances  plans.Instances
	imports    map[addrs.AbsResourceInstance]importing
	found      diags.Diagnostics
	// late is what is wrong with destroying, rather than with what would be without.
	late  []refusal
	ended bool
	// unplanned are the blocks of which something failed, or that depend on one.
	unplanned map[addrs.Object]bool
	// restored says that a refresh changes what the state has of an object, if not the object.
	restored bool
	// refined says that an output has a number that the state has to another precision.
	refined bool
}

func newPlanner(ctx context.Context, in Input) *planner {
	p := &planner{
		in:         in,
		targeting:  targeting.Options{Targets: in.Targets, Excludes: in.Excludes},
		prior:      in.State.Edit(),
		byConfig:   map[addrs.ConfigResource][]addrs.AbsResource{},
		values:     map[addrs.AbsResource]cty.Value{},
		changeOf:   map[addrs.AbsResourceInstance]*plans.ResourceChange{},
		changesOf:  map[addrs.AbsResource][]*plans.ResourceChange{},
		pending:    map[addrs.ConfigResource]bool{},
		unplanned:  map[addrs.Object]bool{},
		pendingAbs: map[addrs.AbsResource]bool{},
		moved:      &refactoring.Result{},
		imports:    map[addrs.AbsResourceInstance]importing{},
		instances: plans.Instances{
			Calls:     map[plans.CallInstance][]addrs.InstanceKey{},
			Resources: map[addrs.AbsResource][]addrs.InstanceKey{},
		},
	}
	p.s = &session.Session{Environment: in.Environment}
	p.s.Eval = eval.New(ctx, eval.Phase{
		Program: in.Program, Variables: in.Variables, InvalidVariables: in.InvalidVariables,
		Resource: p.resourceValue, ConditionsWarn: in.Mode != plans.NormalMode,
	})
	p.deps = dependencies.New(in.Config, in.Refs)
	if len(in.Config.Root.Imports) > 0 && in.Mode != plans.RefreshOnlyMode {
		p.deps.IncludeImports()
	}
	p.nested = session.NestedData(in.Config)
	return p
}

// report keeps diagnostics.
func (p *planner) report(ds diags.Diagnostics) {
	ds = ds.Unreported()
	if len(ds) == 0 {
		return
	}
	p.mu.Lock()
	p.found = append(p.found, ds...)
	p.mu.Unlock()
}

// resourceValue is the evaluator's window on resources.
func (p *planner) resourceValue(ctx context.Context, a addrs.AbsResource, _ []addrs.InstanceKey) (cty.Value, diags.Diagnostics) {
	if p.stored != nil {
		return p.stored.value(ctx, a)
	}
	p.mu.Lock()
	v, ok := p.values[a]
	ended := p.ended
	p.mu.Unlock()
	switch {
	case ok:
		return v, nil
	case !p.selected.HasBlock(a.Config()):
		return cty.DynamicVal, nil
	case ended:
		return cty.DynamicVal, diags.Reported() // its visit failed or was skipped
	}
	panic("planning: " + a.String() + " is evaluated before it was planned")
}

// errVisit is the outcome of a visit that reported errors.
var errVisit = errors.New("the visit reported errors")

// walk visits every node.
func (p *planner) walk(ctx context.Context) {
	nodes := p.nodes()
	results := walk.Run(ctx, p.in.Calls(), nodes.graph(), func(ctx context.Context, i int) error {
		for _, visit := range nodes.list[i].visits {
			ds := visit(ctx)
			p.report(ds)
			if ds.HasErrors() {
				return errVisit
			}
		}
		return nil
	})
	p.ended = true
	for _, err := range results {
		if err != nil && !errors.Is(err, errVisit) && !errors.Is(err, walk.ErrSkipped) {
			p.report(diags.Errorf(nil, "Planning was interrupted", "Nothing has been changed: %s.", err))
			break
		}
	}
	for cr, i := range nodes.of {
		if results[i] != nil {
			p.unplanned[cr.Object()] = true
		}
	}
}

// waits reports whether an object depends on what could not be planned.
func (p *planner) waits(o addrs.Object) bool {
	return len(p.unplanned) > 0 && slices.ContainsFunc(p.in.Refs.Resources(o), func(u addrs.Object) bool { return p.unplanned[u] })
}

// finish evaluates what nobody asked for, and puts the plan together.
func (p *planner) finish(ctx context.Context) (*plans.Plan, diags.Diagnostics) {
	if p.usual() {
		p.report(p.s.Eval.Force(p.unselected))
		p.report(session.CheckBlocks(p.s.Eval, p.in.Config.Order, p.unselected))
	}
	outputs := p.outputs()
	ds := slices.Concat(p.moved.Unmoved, p.found, p.s.Diagnostics(), p.s.Eval.Diagnostics())
	if p.in.Mode == plans.DestroyMode {
		if ds.HasErrors() {
			return nil, append(ds.Distinct(), p.targeting.Warnings()...)
		}
		ds = append(p.moved.Unmoved, p.withhold()...)
	}
	ds = append(ds.Distinct(), p.targeting.Warnings()...)
	ds = append(ds, p.replaceWarnings()...)
	p.recordCalls()
	slices.SortFunc(p.changes, compareChanges)
	ds = append(ds, p.forgetWarnings()...)
	slices.SortFunc(p.drift, compareChanges)
	p.deps.Fill(p.changes)
	plan := &plans.Plan{
		Mode:               p.in.Mode,
		Errored:            ds.HasErrors(),
		Complete:           !p.selected.Partial() && !ds.HasErrors(),
		Changes:            p.changes,
		Drift:              p.drift,
		Outputs:            outputs,
		Checks:             p.checkResults(),
		Variables:          p.keptVariables(),
		EphemeralVariables: p.in.EphemeralVariables,
		Targets:            p.in.Targets,
		Excludes:           p.in.Excludes,
		ForceReplace:       p.in.ForceReplace,
		Instances:          p.instances,
		PrevRunState:       p.in.State,
		PriorState:         p.prior.State(),
		Timestamp:          p.in.Timestamp,
	}
	plan.Relevant = p.relevant(ctx, outputs)
	plan.Applyable = !plan.Errored && p.applyable(plan)
	return plan, ds
}

// keptVariables returns the variables without the ephemeral ones.
func (p *planner) keptVariables() map[string]cty.Value {
	out := maps.Clone(p.in.Given)
	if p.in.Given == nil {
		out = maps.Clone(p.in.Variables)
	}
	for _, name := range p.in.EphemeralVariables {
		delete(out, name)
	}
	return out
}

// applyable reports whether applying would change anything.
func (p *planner) applyable(plan *plans.Plan) bool {
	if plan.Mode == plans.RefreshOnlyMode {
		// The stock tool takes some objects for changed whatever they are (neverSame).
		// It minds new outputs and values, but not outputs that are gone, nor values that are
		// not known, nor mere moves; and of outputs how precise the numbers in them are, which
		// is less for length's than for those of the state, however equal.
		return p.restored || p.refined ||
			slices.ContainsFunc(plan.Drift, func(c *plans.ResourceChange) bool { return c.Action != plans.NoOp }) ||
			slices.ContainsFunc(plan.Outputs, func(o *plans.OutputChange) bool {
				return (o.Action == plans.Create || o.Action == plans.Update) && marks.Plain(o.After).IsWhollyKnown()
			})
	}
	if len(plan.ForgottenData(plan.PriorState)) > 0 {
		return true
	}
	for _, c := range plan.Changes {
		if c.Action != plans.NoOp || c.Importing != nil || c.PrevAddr != c.Addr.Instance {
			return true
		}
	}
	return slices.ContainsFunc(plan.Outputs, func(o *plans.OutputChange) bool { return o.Action != plans.NoOp })
}

func compareChanges(a, b *plans.ResourceChange) int {
	if c := a.Addr.Instance.Compare(b.Addr.Instance); c != 0 {
		return c
	}
	switch {
	case a.Addr.Deposed < b.Addr.Deposed:
		return -1
	case a.Addr.Deposed > b.Addr.Deposed:
		return 1
	}
	return 0
}

// recordCalls keeps the instance keys of every module call that is part of the plan.
func (p *planner) recordCalls() {
	for _, m := range p.in.Config.Order {
		if !p.selected.HasModule(m) {
			continue
		}
		ins, ds := p.s.Eval.Modules(m)
		if ds.HasErrors() {
			continue
		}
		for _, in := range ins {
			for name, child := range m.Children {
				if !p.selected.HasModule(child) {
					continue
				}
				calls, ds := p.s.Eval.CallInstances(in, name)
				if ds.HasErrors() {
					continue
				}
				keys := make([]addrs.InstanceKey, len(calls))
				for i := range calls {
					keys[i] = calls[i].Key
				}
				p.instances.Calls[plans.CallInstance{Module: in, Call: name}] = keys
			}
		}
	}
}
