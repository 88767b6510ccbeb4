package planning

import (
	"context"
	"slices"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/dependencies"
	"github.com/lockstep-iac/lockstep/engine/internal/planning/drafts"
	"github.com/lockstep-iac/lockstep/engine/internal/planning/importing"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// planner makes one plan. It also serves the import command, which plans one or two blocks without a walk,
// and the first part of a destroy.
type planner struct {
	in   Input
	s    *session.Session
	deps *dependencies.Graph

	// inState are the resources of the prior state, by block address, including those without a block.
	inState map[addrs.ConfigResource][]addrs.AbsResource
	// forced has the blocks for which create-before-destroy is in effect: blocks with the setting, and all
	// blocks that they depend on. If a block replaced its objects in another order than its dependencies, there
	// would be a cycle.
	// Source: https://developer.hashicorp.com/terraform/language/meta-arguments/lifecycle
	forced map[addrs.ConfigResource]bool
	// nested are the data blocks in check blocks, with the names of the check blocks.
	nested    map[*config.Resource]string
	moved     *moveResult
	targeting targetOptions
	// selected is the part to plan. toDestroy is the part to destroy in a plan that destroys.
	selected, toDestroy *targetSelection
	// valueOf is set in the import command, which plans nothing: it returns the values of resources.
	valueOf func(context.Context, addrs.AbsResource) (cty.Value, diags.Diagnostics)

	// affected is nil in a plan that reads all objects, or none.
	affected *affected

	prior    *drafts.Prior
	values   drafts.Values
	changes  *drafts.Changes
	imports  *importing.Blocks
	refusals drafts.Refusals
	// unplanned are the blocks with a failure, and the blocks that depend on one.
	unplanned map[addrs.Object]bool
	// planned are the actions to invoke; see [planner.invocations].
	planned []*plans.Invocation
	// evaluated and ofOutputs belong to [planner.unvisited].
	evaluated bool
	ofOutputs []*plans.OutputChange

	mu        sync.Mutex // guards the fields below
	instances plans.Instances
	found     diags.Diagnostics
	ofActions diags.Diagnostics // those of found that are about actions
}

func newPlanner(ctx context.Context, in Input) *planner {
	p := &planner{
		in:        in,
		targeting: targetOptions{Targets: in.Targets, Excludes: in.Excludes, Waiting: in.Waiting},
		prior:     drafts.NewPrior(in.State),
		inState:   map[addrs.ConfigResource][]addrs.AbsResource{},
		changes:   drafts.NewChanges(in.Mode, nil, in.Events),
		unplanned: map[addrs.Object]bool{},
		moved:     &moveResult{},
		instances: plans.Instances{
			Calls:     map[plans.CallInstance][]addrs.InstanceKey{},
			Resources: map[addrs.AbsResource][]addrs.InstanceKey{},
		},
	}
	p.s = &session.Session{Environment: in.Environment}
	p.s.Eval = eval.New(ctx, eval.Phase{
		Program: in.Program, Variables: in.Variables, InvalidVariables: in.InvalidVariables,
		Resource: p.resourceValue, Count: p.values.Keys, ConditionsWarn: in.Mode != plans.NormalMode, ValidationsWarn: in.Mode == plans.DestroyMode,
	})
	p.imports = importing.NewBlocks(in.Config, in.Mode, p.s.Eval, p.prior)
	p.deps = dependencies.New(in.Config, in.Refs)
	if len(in.Config.Imports()) > 0 && in.Mode != plans.RefreshOnlyMode {
		p.deps.IncludeImports()
	}
	p.nested = session.NestedData(in.Config)
	return p
}

// stored returns access to the values of resources in the prior state.
func (p *planner) stored() drafts.StoredValues {
	return drafts.StoredValues{Session: p.s, Objects: p.prior}
}

// selectPart applies the options -target and -exclude: it sets the fields selected and toDestroy.
func (p *planner) selectPart() {
	in := targetInput{
		targetOptions: p.targeting, Config: p.in.Config, Refs: p.in.Refs, Deps: p.deps,
		Was: p.in.State, Prior: p.prior.State(),
	}
	p.selected = selectTargets(in)
	if p.in.Invoke != (addrs.AbsResourceInstance{}) {
		p.selected = p.selectInvoked(in)
	}
	if p.in.Mode == plans.DestroyMode {
		p.toDestroy = selectDestroyed(in)
	}
}

// unselected reports whether a named value or a check block is left out because nothing selected refers to
// it.
func (p *planner) unselected(o addrs.Object) bool { return !p.selected.hasObject(o) }

// report keeps diagnostics for the end of the plan. It drops those that only stand for others: the originals
// are kept elsewhere (see [diags.Reported]).
func (p *planner) report(ds diags.Diagnostics) {
	ds = ds.Unreported()
	if len(ds) == 0 {
		return
	}
	p.mu.Lock()
	p.found = append(p.found, ds...)
	p.mu.Unlock()
}

// resourceValue gives the evaluator the values of resources. The walk ensures that the visit of a resource
// has ended when an expression needs its value. Then there are three cases. The visit has set the value. Or
// there was no visit because the resource is not selected, and its value must not matter. Or the visit
// failed, which is reported already. A request before the end of the visit is a bug in the walk.
func (p *planner) resourceValue(ctx context.Context, a addrs.AbsResource, _ []addrs.InstanceKey) (cty.Value, diags.Diagnostics) {
	if p.valueOf != nil {
		return p.valueOf(ctx, a)
	}
	v, ok, ended := p.values.Get(a)
	switch {
	case ok:
		return v, nil
	case !p.selected.hasBlock(a.Config()):
		return cty.DynamicVal, nil
	case ended:
		return cty.DynamicVal, diags.Reported() // the visit failed or was skipped
	}
	panic("planning: " + a.String() + " is evaluated before it was planned")
}

// waits reports whether an object depends on a block that could not be planned.
func (p *planner) waits(o addrs.Object) bool {
	return len(p.unplanned) > 0 && slices.ContainsFunc(p.in.Refs.Resources(o), func(u addrs.Object) bool { return p.unplanned[u] })
}

// usual reports whether the resources are planned as usual. In a destroy, this planning is the first part. It
// is left out in two cases, as in Terraform 1.11.4: without a refresh, since it would find nothing, and with
// an empty state, since there is nothing to destroy. Then the configuration need not even be possible to
// evaluate.
func (p *planner) usual() bool {
	return p.in.Mode != plans.DestroyMode || !p.in.SkipRefresh && !p.in.State.IsEmpty()
}

// moduleExists reports whether a module instance exists in the configuration.
func (p *planner) moduleExists(in addrs.ModuleInstance) bool {
	if in.IsRoot() {
		return true
	}
	m := p.in.Config.Modules[in.Module()]
	return m != nil && p.s.Eval.HasModule(m, in)
}

// recordKeys records the instance keys of a resource in the plan, so that the apply does not expand count or
// for_each again. It also records a resource without instances, since the plan has decided that there are
// none.
func (p *planner) recordKeys(abs addrs.AbsResource, keys []addrs.InstanceKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.instances.Resources[abs] = keys
}
