// Package planning compares a configuration with the real objects, and plans the actions by which an apply
// would make them agree. It makes a [plans.Plan] from the configuration, the prior state and the providers.
//
// It walks through the resource blocks, each after its dependencies. The visit of a block does everything for
// its instances: it expands count and for_each, reads stored objects again (refresh.go), asks the provider to
// plan the new values (instance.go), and plans the deletion of instances without a declaration
// (deletions.go). A resource that only the state has, without a block, is visited, too (orphans.go). Package
// drafts has what the visits share.
//
// Rules that need no values are pure, and have tables of their own below testdata: how addresses move
// (moves.go), which part of a configuration the options select (target_selection.go), which drift is
// relevant (relevance.go), and which actions a change triggers (actions.go).
//
// It changes nothing. It refuses to know the order of an apply (package order), and where a state is stored.
// Start at [Plan].
package planning

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/planning/drafts"
	"github.com/lockstep-iac/lockstep/engine/internal/planning/importing"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

/*
# The order of a plan

A plan is made in one walk over the resources. Some work for all resources comes before it, and work that
needs every count and for_each comes after it:

 1. Moves give the objects of the state their new addresses (moves.go). From then on nobody
    has to ask for an old address: a visit finds an object where its block is now.
 2. The part that the options select is made from the moved state, because -target names present
    addresses (target_selection.go).
 3. The walk visits each resource after those that it refers to (nodes.go). So every value that an
    expression asks for has been planned, be it as unknown. This is the invariant of the whole package:
    [planner.resourceValue] panics where it does not hold.
 4. Actions that the changes trigger are planned, when all that they may refer to has a value (actions.go).
 5. Moves are checked, outputs are planned, and values without a reference to them are evaluated for
    their errors.
 6. In a plan that destroys, the deletions that would leave an object behind without its dependencies
    are withheld (package drafts).

# Three states

The previous run state is the state that was read. The plan contains it unchanged, so that an apply can be
refused if the stored state has changed by then. The prior state is made from it by moves, by upgrades to the
current schemas and by refreshing. An apply starts from the prior state, and stores it even if no action is
left. The planned state does not exist as a whole: it would be the prior state with the new values of all
changes. The difference between the first two is drift; the difference between the last two is the changes.

Source: docs/planning-behaviors.md and docs/resource-instance-change-lifecycle.md in Terraform's repository.

# Errors

A plan with errors is still returned, marked as errored, and cannot be applied: a person wants to see every
independent mistake, and the changes that do not depend on one. There is no plan if everything in it may be
only a consequence: after a contradiction between moves and configuration, or if the first part of a destroy
has failed.

# Locks

Visits run in parallel, and so do the instances within one. Prior state, changes, values and refusals
have locks of their own (package drafts), as the evaluator and the session do. The planner's mu guards the
fields below it. Everything else is written before the walk or after it, and only read in between.
*/

// Input is everything that a plan depends on. Planning does not change it.
type Input struct {
	session.Environment
	State *states.State // the state as it was read

	// Variables are the values of the root module's variables, converted and without marks. The plan names
	// those in EphemeralVariables, but does not keep their values.
	Variables          map[string]cty.Value
	EphemeralVariables []string
	// InvalidVariables are the errors of variables whose values do not have the declared type. Nothing that
	// depends on them is planned.
	InvalidVariables map[string]diags.Diagnostics
	// Given are the values of Variables before conversion, which the plan keeps. If it is nil, the plan keeps
	// Variables.
	Given map[string]cty.Value

	Mode plans.Mode
	// SkipRefresh makes the plan rely on the stored objects instead of reading the real ones, which saves a
	// provider call for each. If an object no longer exists, only the apply finds out. Source: the option
	// -refresh=false.
	SkipRefresh bool
	// Affected, if not nil, makes the plan read only the objects that its changes can affect. It is for plans
	// in normal mode that refresh. Source: the option -refresh=affected.
	Affected *Affected
	// Targets and Excludes select a part of the configuration: see [targetOptions].
	Targets, Excludes, Waiting []addrs.Target
	// ForceReplace are the instances to replace even if an update would do. An instance without an object is
	// created as usual. Source: the option -replace.
	ForceReplace []addrs.AbsResourceInstance
	// Invoke is the action of the option -invoke; the zero value means no such option. The plan refreshes what
	// the action refers to, and changes nothing. Mode must then be RefreshOnlyMode.
	Invoke addrs.AbsResourceInstance
	// Found holds objects to import that [importing.Generate] has read, after which the configuration
	// got their blocks.
	Found importing.Found
	// Unprotected ignores prevent_destroy.
	Unprotected bool
	// Private reports that no other tool reads the state.
	Private   bool
	Timestamp time.Time // time of the plan, the value of plantimestamp()
}

// Plan makes the plan. With errors, it returns the part that could be planned, marked as errored. The plan is
// nil if moved or removed blocks contradict the configuration, if the provider configuration of an orphan no
// longer exists, or if the first part of a plan that destroys has errors.
func Plan(ctx context.Context, in Input) (*plans.Plan, diags.Diagnostics) {
	if in.Affected == nil {
		plan, ds, _ := attempt(ctx, in, nil)
		return plan, ds
	}
	shared := newAttempts(*in.Affected)
	for {
		if plan, ds, again := attempt(ctx, in, shared); !again {
			return plan, ds
		}
	}
}

// attempt makes the plan. With shared, it may find that the plan has to be made again.
func attempt(ctx context.Context, in Input, shared *attempts) (_ *plans.Plan, _ diags.Diagnostics, again bool) {
	p := newPlanner(ctx, in)
	listener := in.Events
	if shared != nil {
		p.affected = newAffected(shared, p)
		listener = p.affected.listen
	}
	if !p.usual() {
		p.valueOf = p.stored().Of
	}
	moved, ds := moveObjects(moveInput{
		Config: in.Config, Was: in.State, Prior: p.prior.Editor(),
		Convert: func(from, to addrs.AbsResourceInstance) diags.Diagnostics { return p.convert(ctx, from, to) },
	})
	origins := moved.Origins
	if in.Mode == plans.DestroyMode && p.usual() {
		origins = nil // the deletions start from the first part's result, in which everything has moved
	}
	p.moved, p.changes = moved, drafts.NewChanges(in.Mode, origins, listener)
	if p.usual() {
		ds = append(ds, checkRemovedBlocks(in.Config)...)
	}
	ds = append(ds, p.checkOrphans()...)
	ds = append(ds, p.invocable()...)
	if ds = append(ds, p.targeting.checkMoves(p.moved.Origins)...); ds.HasErrors() {
		return nil, append(ds, p.targeting.Warnings()...), false
	}
	p.report(ds)
	if p.usual() {
		p.report(p.imports.CheckTargets(p.targeting.mayName, in.Found))
	}
	p.selectPart()
	p.forced = p.deps.CreateBeforeDestroy(p.selected.hasBlock)
	p.walk(ctx)
	p.invocations(ctx)
	if p.affected != nil && p.affected.again(ctx) {
		p.s.CloseEphemerals(context.WithoutCancel(ctx))
		return nil, nil, true
	}
	p.report(p.s.CloseEphemerals(context.WithoutCancel(ctx)))
	var plan *plans.Plan
	if ds = p.checkMoves(); ds.HasErrors() {
		ds = append(ds, p.targeting.Warnings()...) // other errors may be consequences of these
	} else {
		plan, ds = p.finish(ctx)
	}
	if p.affected != nil {
		if p.affected.failed(ctx, ds) {
			return nil, nil, true
		}
		p.affected.send()
	}
	return plan, ds, false
}

// unvisited evaluates the values that no visit needed, for their errors, and plans the outputs. It does so once.
func (p *planner) unvisited() []*plans.OutputChange {
	if !p.evaluated {
		p.evaluated = true
		if p.usual() {
			p.report(p.s.Eval.Force(p.unselected))
			p.report(session.CheckBlocks(p.s.Eval, p.in.Config.Order, p.unselected))
		}
		p.ofOutputs = p.outputs()
	}
	return p.ofOutputs
}

// finish evaluates the values that no visit needed, for their errors, and assembles the plan.
//
// Outputs come after the named values: an output may be the first to need a local value, whose error is then
// reported as that of the local value. Diagnostics come from four places: the visits, the provider
// configurations, the named values, and the moves. The same one may come from two places, so duplicates are
// removed.
//
// The plan of a destroy is complete by its second part alone, and diagnostics of the first part that are no
// errors are dropped: they are about changes that a destroy does not make. Diagnostics about actions belong to
// the second part.
func (p *planner) finish(ctx context.Context) (*plans.Plan, diags.Diagnostics) {
	outputs := p.unvisited()
	ds := slices.Concat(p.moved.Unmoved, p.found, p.s.Diagnostics(), p.s.Eval.Diagnostics())
	if p.in.Mode == plans.DestroyMode {
		if ds.HasErrors() {
			return nil, append(ds.Distinct(), p.targeting.Warnings()...)
		}
		ds = slices.Concat(p.moved.Unmoved, p.ofActions, invalidValues(ds), p.changes.Withhold(&p.refusals, p.storedDependencies))
	}
	ds = append(ds.Distinct(), p.targeting.Warnings()...)
	if !ds.HasErrors() { // errors may be the reason why an address is not expanded
		ds = append(ds, p.unmatched()...)
	}
	p.recordCalls()
	changes, drift := p.changes.Sorted()
	ds = append(ds, forgetWarnings(changes)...)
	if !ds.HasErrors() {
		ds = append(ds, p.keyedProviders(changes)...)
	}
	ds = append(ds, p.unkept(changes, drift)...)
	p.deps.Fill(changes)
	errored := ds.HasErrors() || len(p.in.Found.Failed) > 0
	plan := &plans.Plan{
		Mode:               p.in.Mode,
		Errored:            errored,
		Complete:           (!p.selected.Partial() || p.in.Invoke != (addrs.AbsResourceInstance{})) && !errored,
		Changes:            changes,
		Invocations:        p.ofChanges(changes),
		Drift:              drift,
		Outputs:            outputs,
		Checks:             p.checkResults(),
		Variables:          p.in.keptVariables(),
		EphemeralVariables: p.in.EphemeralVariables,
		Targets:            p.in.Targets,
		Excludes:           p.in.Excludes,
		Waiting:            p.in.Waiting,
		Invoke:             p.in.Invoke,
		ForceReplace:       p.in.ForceReplace,
		Instances:          p.instances,
		PrevRunState:       p.in.State,
		PriorState:         p.prior.Editor().State(),
		Timestamp:          p.in.Timestamp,
	}
	if p.affected != nil {
		plan.Affected = p.affected.result(p.selected, plan.PriorState)
	}
	plan.Relevant = p.relevant(ctx, outputs)
	plan.Applyable = !plan.Errored && applyable(plan)
	return plan, ds
}

// invalidValues returns the warnings about variables whose values fail a validation.
func invalidValues(ds diags.Diagnostics) diags.Diagnostics {
	return slices.DeleteFunc(slices.Clone(ds), func(d diags.Diagnostic) bool { return d.Summary != eval.InvalidValue })
}

// keptVariables returns the variables without the ephemeral ones.
func (in Input) keptVariables() map[string]cty.Value {
	out := maps.Clone(in.Given)
	if in.Given == nil {
		out = maps.Clone(in.Variables)
	}
	for _, name := range in.EphemeralVariables {
		delete(out, name)
	}
	return out
}

// recordCalls records the instance keys of every module call that is part of the plan. An apply uses these
// keys, and does not expand calls again: with a value that became known later, or another result of an impure
// function, it would make other instances than approved.
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
