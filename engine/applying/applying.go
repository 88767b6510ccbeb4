// Package applying carries out a plan: plan + prior state -> new state.
//
// It does what it is told. Which instances there are, what becomes of them and in
// which order was decided by the plan and package order; applying evaluates the
// configuration again with the values that are known by now, asks the provider to
// plan once more, holds both plans against each other, and only then lets the
// provider act. It stops after any action if it must: what is done is in the
// state, what is not stays as the prior state has it.
//
// Every effect goes through one place ([object.effect]), where the journal has the intent before it
// and the outcome after it. The package refuses to
// know where a state is stored: whoever calls gives a function that saves it.
// Start at [Apply].
package applying

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
	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/order"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provisioning"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/session"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/walk"
)

// Input is everything that an apply depends on.
type Input struct {
	session.Environment
	Plan *plans.Plan
	// Variables are the plan's, with the ephemeral ones given again.
	Variables map[string]cty.Value
	// LocalExec runs the commands of local-exec provisioners; nil: a plan with changes that
	// have some is refused as a whole.
	LocalExec provisioning.Runner
	// Journal makes intents and outcomes durable; nil: there is none.
	Journal *journaling.Journal
	// Save stores a state; it is called at most once at a time, at least every
	// SaveEvery while there is something new, and at the end. nil: nothing is stored
	// on the way.
	Save func(context.Context, *states.State) error
	// SaveEvery is the longest time between two saves; 0 means [DefaultSaveEvery].
	SaveEvery time.Duration
	// SaveSoon is for stores in which a save costs little: the state is saved within
	// [SoonSaved] after a change, or as much later as keeps the time for saves at a tenth.
	SaveSoon bool
}

// DefaultSaveEvery is how much work a crash may lose. Source: Terraform persists
// every 20 seconds on remote backends.
const DefaultSaveEvery = 20 * time.Second

// SoonSaved is the shortest time between two saves where they are to come soon.
const SoonSaved = 10 * time.Millisecond

// Apply carries out the plan. The state is returned beside errors, too: it is
// what exists then. When ctx ends, nothing new is started, calls under way may
// finish, and what has not been started is reported.
func Apply(ctx context.Context, in Input) (*states.State, diags.Diagnostics) {
	if in.SaveEvery <= 0 {
		in.SaveEvery = DefaultSaveEvery
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	a := newApplier(ctx, in)
	a.stop, a.until = stop, ctx
	if ds := a.refused(); ds.HasErrors() {
		return in.Plan.PriorState, ds
	}
	a.walk(ctx)
	return a.finish(ctx)
}

// applier is the applying of one plan.
type applier struct {
	in     Input
	s      *session.Session
	deps   *dependencies.Graph
	forced dependencies.Forced
	nested map[*config.Resource]string // the data blocks in checks
	// mentioned are the resources that expressions of their content mention.
	mentioned map[*config.Content]map[addrs.Resource]bool
	results   func() map[conditioned]int // see resultsOf
	// plannedOutputs are the names of the outputs that the plan has.
	plannedOutputs func() map[string]bool
	aftermath      *aftermath // see after
	// unasked are the data blocks in checks whose turn did not come.
	unasked map[addrs.ConfigResource]bool
	stop    context.CancelCauseFunc
	until   context.Context // commands of provisioners end with it

	mu        sync.Mutex
	state     *states.Editor
	deposedAs map[*plans.ResourceChange]addrs.DeposedKey       // the key that its old object was given
	failed    map[addrs.AbsResource]map[addrs.InstanceKey]bool // those of unmade, by instance
	unmade    map[addrs.ConfigResource]bool                    // something was not created, updated, read or verified
	needed    map[addrs.ConfigResource][]addrs.AbsResource     // see openNeeded
	noHusk    map[addrs.AbsResource]bool                       // see husks
	keys      map[addrs.AbsResource]map[addrs.InstanceKey]bool // see someOf
	thereOf   map[addrs.AbsResource]map[addrs.InstanceKey]bool // see there
	values    map[addrs.AbsResource]*valueCell
	instances map[addrs.AbsResource]*instancesCell
	doomed    func() map[addrs.AbsResourceInstance]bool // what the plan deletes, and has no successor
	// made are the instances of which the plan creates, updates or reads an object.
	made  func() map[addrs.AbsResource][]addrs.InstanceKey
	found diags.Diagnostics
	ended bool

	saving sync.Mutex
	saved  *states.State
}

type valueCell struct {
	once sync.Once
	val  cty.Value
	ds   diags.Diagnostics
}

type instancesCell struct {
	once sync.Once
	by   map[addrs.InstanceKey]*eval.Instance
	ds   diags.Diagnostics
}

func newApplier(ctx context.Context, in Input) *applier {
	a := &applier{
		in:        in,
		deps:      dependencies.New(in.Config, in.Refs),
		state:     in.Plan.PriorState.Edit(),
		deposedAs: map[*plans.ResourceChange]addrs.DeposedKey{},
		failed:    map[addrs.AbsResource]map[addrs.InstanceKey]bool{},
		unmade:    map[addrs.ConfigResource]bool{},
		unasked:   map[addrs.ConfigResource]bool{},
		needed:    map[addrs.ConfigResource][]addrs.AbsResource{},
		noHusk:    map[addrs.AbsResource]bool{},
		keys:      map[addrs.AbsResource]map[addrs.InstanceKey]bool{},
		thereOf:   map[addrs.AbsResource]map[addrs.InstanceKey]bool{},
		values:    map[addrs.AbsResource]*valueCell{},
		instances: map[addrs.AbsResource]*instancesCell{},
		saved:     in.Plan.PriorState,
	}
	a.doomed = sync.OnceValue(func() map[addrs.AbsResourceInstance]bool {
		list := map[addrs.AbsResourceInstance]bool{}
		for _, c := range in.Plan.Changes {
			if c.Action == plans.Delete && c.Addr.Deposed == addrs.NotDeposed {
				list[c.Addr.Instance] = true
			}
		}
		return list
	})
	a.made = sync.OnceValue(func() map[addrs.AbsResource][]addrs.InstanceKey {
		made := map[addrs.AbsResource][]addrs.InstanceKey{}
		for _, c := range in.Plan.Changes {
			if c.Action != plans.NoOp && c.After != cty.NilVal && !marks.Plain(c.After).IsNull() {
				abs := c.Addr.Instance.AbsResource()
				made[abs] = append(made[abs], c.Addr.Instance.Resource.Key)
			}
		}
		return made
	})
	a.results = sync.OnceValue(func() map[conditioned]int { return resultsOf(in.Plan) })
	a.plannedOutputs = sync.OnceValue(func() map[string]bool {
		names := map[string]bool{}
		for _, c := range in.Plan.Outputs {
			names[c.Name] = true
		}
		return names
	})
	a.forced = a.deps.ForcedInstances(remaining(in.Plan), destroyers(in.Plan)) // planned or not
	a.nested = session.NestedData(in.Config)
	a.mentioned = mentioned(in.Config, in.Refs)
	a.s = &session.Session{Environment: in.Environment}
	a.s.Eval = eval.New(ctx, eval.Phase{
		Program: in.Program, Variables: in.Variables, Resource: a.resourceValue,
		CallKeys: func(m addrs.ModuleInstance, call string) ([]addrs.InstanceKey, bool) {
			keys, ok := in.Plan.Instances.Calls[plans.CallInstance{Module: m, Call: call}]
			return keys, ok
		},
		ResourceKeys: func(r addrs.AbsResource) ([]addrs.InstanceKey, bool) {
			keys, ok := in.Plan.Instances.Resources[r]
			return keys, ok
		},
		Applying: true,
	})
	return a
}

// remaining tells which instances of blocks, in whatever module instance, a plan does not only
// delete.
func remaining(plan *plans.Plan) func(addrs.ConfigResource, addrs.InstanceKey) bool {
	type instance struct {
		addrs.ConfigResource
		key addrs.InstanceKey
	}
	all := sync.OnceValue(func() map[instance]bool {
		all := map[instance]bool{}
		for _, c := range plan.Changes {
			if c.Addr.Deposed == addrs.NotDeposed && c.Action != plans.Delete && c.Action != plans.Forget {
				all[instance{c.Addr.Instance.Config(), c.Addr.Instance.Resource.Key}] = true
			}
		}
		return all
	})
	return func(cr addrs.ConfigResource, key addrs.InstanceKey) bool { return all()[instance{cr, key}] }
}

// destroyers returns the provider configurations of the objects that a plan destroys for which
// create-before-destroy was in force.
func destroyers(plan *plans.Plan) []addrs.AbsProviderConfig {
	seen := map[addrs.AbsProviderConfig]bool{}
	for _, c := range plan.Changes {
		if c.Addr.Deposed != addrs.NotDeposed || c.Action != plans.Delete && !c.Action.IsReplace() {
			continue
		}
		if o := plan.PriorState.Object(c.Addr); o != nil && o.CreateBeforeDestroy {
			seen[c.Provider] = true
		}
	}
	return slices.Collect(maps.Keys(seen))
}

// mentioned returns the resources that expressions mention, by content.
func mentioned(cfg *config.Config, rs *refs.Refs) map[*config.Content]map[addrs.Resource]bool {
	out := map[*config.Content]map[addrs.Resource]bool{}
	for _, m := range cfg.Order {
		if out[m.Content] != nil {
			continue
		}
		found := map[addrs.Resource]bool{}
		for _, ref := range rs.Mentions(m.Content) {
			if ref.Object.Kind == addrs.KindResource {
				found[ref.Object.Res] = true
			}
		}
		out[m.Content] = found
	}
	return out
}

// errStep is the outcome of a step that reported errors.
var errStep = errors.New("the step reported errors")

// walk carries out the steps, and when all is done, reads the data that stand in checks.
func (a *applier) walk(ctx context.Context) {
	// Half the time, so that what is saved is never older than the whole of it.
	interval, save := a.in.SaveEvery/2, a.save
	if a.in.SaveSoon {
		interval, save = SoonSaved, a.pace()
	}
	stopSaving := walk.Every(ctx, interval, func() { a.report(save(ctx)) })
	defer stopSaving()
	var usual, last []*plans.ResourceChange
	for _, c := range a.in.Plan.Changes {
		if a.isNested(c) {
			last = append(last, c)
		} else {
			usual = append(usual, c)
		}
	}
	if a.carryOut(ctx, usual) {
		a.carryOut(ctx, last)
	} else {
		for _, c := range last {
			a.unasked[c.Addr.Instance.Config()] = true
		}
	}
	a.ended = true
}

// isNested reports whether a change is that of a data block in a check.
func (a *applier) isNested(c *plans.ResourceChange) bool {
	if c.Action != plans.Read {
		return false
	}
	cr := c.Addr.Instance.Config()
	m := a.in.Config.Modules[cr.Module]
	return m != nil && m.Resources[cr.Resource] != nil && a.nested[m.Resources[cr.Resource]] != ""
}

// carryOut carries out changes, and reports whether all is well.
func (a *applier) carryOut(ctx context.Context, changes []*plans.ResourceChange) bool {
	g := a.steps(changes)
	results := walk.Run(ctx, a.in.Calls(), walk.Graph{N: len(g.Steps), After: g.After}, func(ctx context.Context, i int) error {
		step := g.Steps[i]
		if step.Verb == order.Barrier {
			return nil
		}
		c := changes[step.Change]
		x := a.of(c)
		ds := a.s.Complete(a.step(ctx, step, c), x.r, c.Schema, x.address())
		if err := a.in.Journal.Flush(context.WithoutCancel(ctx)); err != nil {
			ds = append(ds, unjournaled(a.stop, err)...)
		}
		a.report(ds)
		if ds.HasErrors() {
			if step.Verb != order.Delete {
				a.fail(c)
			}
			if !ds.Unreported().HasErrors() {
				a.leaveNoHusk(c.Addr.Instance.AbsResource()) // a value that it needs has failed
			}
			return errStep
		}
		return nil
	})
	left, well := 0, true
	for i, err := range results {
		if err == nil {
			continue
		}
		well = false
		if step := g.Steps[i]; step.Verb != order.Barrier {
			if step.Verb != order.Delete {
				a.fail(changes[step.Change])
				a.unmade[changes[step.Change].Addr.Instance.Config()] = true
			}
			if !errors.Is(err, errStep) && !errors.Is(err, walk.ErrSkipped) && step.Verb != order.Verify {
				left++
			}
		}
	}
	if left > 0 {
		a.report(diags.Errorf(nil, "Apply was interrupted",
			"%d planned actions were not started: %s. What has been done is in the state; plan again to see what remains.", left, context.Cause(ctx)))
	}
	return well
}

// steps puts changes in order.
func (a *applier) steps(changes []*plans.ResourceChange) order.Graph {
	list := make([]order.Change, len(changes))
	ofProvider, only := a.deps.OfProviders(changes), a.deps.OnlyInstances(changes)
	implied := dependencies.Implied(changes)
	for i, c := range changes {
		list[i] = order.Change{
			Object: c.Addr, Config: c.Addr.Instance.Config(), Action: c.Action,
			CreateBeforeDestroy: c.CreateBeforeDestroy, Provider: c.Provider.Config(), ConfigDeps: c.ConfigDeps, OnlyInstances: only[i], ProviderDeps: ofProvider[i],
		}
		if c.Action != plans.NoOp && c.Action != plans.Create && c.Action != plans.Read {
			list[i].StoredDeps = c.StoredDeps.Until(implied)
		}
	}
	return order.Steps(list)
}

// step carries out one step of a change.
func (a *applier) step(ctx context.Context, step order.Step, c *plans.ResourceChange) diags.Diagnostics {
	if step.Verb == order.Verify && !a.hasConditions(c) {
		return nil
	}
	x, ds := a.open(ctx, c)
	if ds.HasErrors() {
		return ds
	}
	switch step.Verb {
	case order.Create, order.Update:
		ds = append(ds, x.make(ctx)...)
	case order.Delete:
		ds = append(ds, x.delete(ctx)...)
	case order.Read:
		ds = append(ds, x.read(ctx)...)
	case order.Forget:
		a.set(c.Addr, c.Provider, nil)
	case order.Verify:
		ds = append(ds, x.verify()...)
	}
	return ds
}

// report keeps diagnostics.
func (a *applier) report(ds diags.Diagnostics) {
	if ds = ds.Unreported(); len(ds) > 0 {
		a.mu.Lock()
		a.found = append(a.found, ds...)
		a.mu.Unlock()
	}
}

// fail notes that a resource instance does not have the value it was to have.
func (a *applier) fail(c *plans.ResourceChange) {
	a.mu.Lock()
	defer a.mu.Unlock()
	abs := c.Addr.Instance.AbsResource()
	if a.failed[abs] == nil {
		a.failed[abs] = map[addrs.InstanceKey]bool{}
	}
	a.failed[abs][c.Addr.Instance.Resource.Key] = true
}

// set records an object in the state; nil removes it.
func (a *applier) set(addr addrs.ResourceInstanceObject, pc addrs.AbsProviderConfig, o *states.Object) {
	a.mu.Lock()
	was := a.state.Current().Object(addr)
	a.state.SetObject(addr, pc, o)
	a.mu.Unlock()
	a.in.Journal.Edit(addr, pc, was, o)
}

// object returns an object of the state.
func (a *applier) object(addr addrs.ResourceInstanceObject) *states.Object {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.state.Current().Object(addr)
}

// save stores the state if there is something new. A state that cannot be stored
// stops the apply: nothing new is started.
func (a *applier) save(ctx context.Context) diags.Diagnostics {
	if a.in.Save == nil {
		return nil
	}
	a.saving.Lock()
	defer a.saving.Unlock()
	a.mu.Lock()
	st := a.state.State()
	a.mu.Unlock()
	if st == a.saved {
		return nil
	}
	if err := a.in.Save(context.WithoutCancel(ctx), st); err != nil {
		a.stop(errors.New("the state could not be saved"))
		return diags.FromError("Failed to save state", err)
	}
	a.saved = st
	return nil
}

// finish evaluates outputs and checks, and saves.
func (a *applier) finish(ctx context.Context) (*states.State, diags.Diagnostics) {
	a.openEphemerals(ctx)
	a.outputs()
	a.husks()
	a.report(a.s.CloseEphemerals(context.WithoutCancel(ctx)))
	a.report(a.save(ctx))
	ds := slices.Concat(a.found, a.s.Diagnostics(), a.s.Eval.Diagnostics()).Distinct()
	if a.in.Plan.Partial() {
		option := "-target"
		if len(a.in.Plan.Excludes) > 0 {
			option = "-exclude"
		}
		ds = append(ds, diags.Warningf(nil, "Applied changes may be incomplete",
			"The plan was made with the %s option, so there may be changes in the configuration that were not applied, and outputs that do not show what was. Run \"lockstep plan\" without %[1]s to see whether anything is left to do.\n\nThe %[1]s option is for recovering from errors, not for routine use.", option)...)
	}
	return a.state.State(), ds
}

// schema returns the schema of a change's resource type.
func (a *applier) schema(ctx context.Context, c *plans.ResourceChange, r *config.Resource) (*schema.Schema, diags.Diagnostics) {
	if c.Schema != nil {
		return c.Schema, nil
	}
	place := r
	if place == nil {
		place = &config.Resource{}
	}
	rs, _, ds := a.s.Schema(ctx, c.Provider.Provider, c.Addr.Instance.Resource.Resource, place.TypeRange.Ptr())
	return rs, ds
}
