// Package applying carries out a plan: it turns the plan and the prior state into the new state.
//
// It decides nothing. Instances and their actions come from the plan, their order from package order. For
// each change, applying evaluates the configuration again with the values known now, and asks the provider to
// plan once more. It compares both plans, and only then asks the provider to act. It may stop after any
// action: the state then has everything done so far, and everything else as in the prior state.
//
// Every change of an object goes through one place ([object.effect]), and every action through another
// ([applier.invoke]), where the journal has the intent before it and the outcome after it. The package
// refuses to know where a state is stored: the caller passes a function that saves the state.
//
// Start at [Apply]. [applier.walk] carries out the steps. An [object] is one change, [values] has the values
// of resources for it, and [conclusion] handles the outputs and checks at the end.
package applying

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/digests"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/dependencies"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provisioning"
	"github.com/lockstep-iac/lockstep/engine/states"
)

/*
# Two plans, one approval

A plan is made while many values do not exist yet. An ID that a provider has not assigned is unknown in the
plan, and so is everything that depends on the ID. Somebody has approved the plan with these gaps. An apply
fills them, step by step, and must do nothing else. Each creation and update has three stages, each with its
own check:

 1. The configuration is evaluated again. The order of steps ensures that everything it refers to exists now,
    so no part of it may be unknown any more ([object.prepare]).
 2. The provider plans again, for this configuration. Its second plan may fill the gaps of the first: known
    values must not change, and an update must stay an update ([object.planAgain]).
 3. The provider acts. Its answer may fill the gaps of the second plan ([object.newState]).

If the check of stage 1 or 2 fails, the step ends before anything has happened. In stage 3 it is too late for
that: the object exists, in whatever form. So the answer is recorded as well as possible, together with the
error about it.

Source: Terraform's docs/resource-instance-change-lifecycle.md, which calls the two plans the initial and the
final planned state. Their checks are in package schema.

# After a failure

A failed step ends only the steps that come after it; all others are carried out, as in Terraform. Ending at
the first failure would make the result depend on the timing of calls. At the end, outputs and checks that
depend on the failure stay as they were. Evaluating them would give one error each, about a missing value,
although only the first error has a cause that can be fixed. [failures] knows the dependents of each failure.

# Where the state is

The valid state is in memory: [record] has the state, and edits it after each answer of a provider, before any
step that depends on the answer. The state is saved at intervals, since each save transfers all of it. In
between, the journal has the edits and the calls in progress (see the essay in journal.go). Without a journal,
a crash loses the work of one interval, as in Terraform. After failed calls and at the end of the apply, the
state is saved at once.
*/

// Input is everything that an apply depends on.
type Input struct {
	session.Environment
	Plan *plans.Plan
	// Variables are the values of the plan's variables. The caller must also pass the values of ephemeral
	// variables, which the plan does not have.
	Variables map[string]cty.Value
	// LocalExec runs the commands of local-exec provisioners. If it is nil, a plan with changes that have
	// such provisioners is refused as a whole.
	LocalExec provisioning.Runner
	// Journal makes intents and outcomes durable; nil if there is no journal.
	Journal *journaling.Journal
	// Progress is the progress of earlier processes that have stopped or died during the same plan. Journal
	// then continues their journal. It is nil if there were none.
	Progress *journaling.Progress
	// ImpureCalls returns the number of calls of impure functions so far, such as uuid(); see [eval.Impure]. It
	// is nil if Functions have no impure functions, or if no other process will continue the apply.
	ImpureCalls func() int64
	// Save stores a state. It is never called concurrently. It is called at least every SaveEvery if anything
	// has changed, and at the end. If it is nil, nothing is stored during the apply.
	Save func(context.Context, *states.State) error
	// SaveEvery is the longest time between two saves; 0 means [DefaultSaveEvery].
	SaveEvery time.Duration
	// SaveSoon is for stores in which a save is cheap: the state is saved within [SoonSaved] after a change.
	// If saves would take more than a tenth of the time, they wait longer.
	SaveSoon bool
}

// DefaultSaveEvery is the default for SaveEvery: a crash loses the work of at most this time. Source:
// Terraform persists every 20 seconds on remote backends.
const DefaultSaveEvery = 20 * time.Second

// SoonSaved is the shortest time between two saves if [Input.SaveSoon] is set.
const SoonSaved = 10 * time.Millisecond

// JournaledSaved is the shortest time between two saves of an apply with a journal. Nothing is lost between two
// saves, since the journal has every change. Terraform, which does not know the journal, reads a state that is
// only about a second old.
const JournaledSaved = time.Second

// A Result is the result of an apply.
type Result struct {
	// State has all objects that exist at the end, even after errors.
	State *states.State
	// Digests are those of the unchanged instances and of the changes made without an error, to be stored
	// beside the state. It is nil if the plan was not asked to read only what is affected.
	Digests *digests.Record
	// Left is the number of actions that were not begun because the context ended. Another process can
	// continue such an apply from its journal: see [journaling.Resume].
	Left int
}

// Apply carries out the plan. When ctx ends, nothing new is started, calls in progress may finish, and the
// actions that were not started are reported.
func Apply(ctx context.Context, in Input) (Result, diags.Diagnostics) {
	if in.SaveEvery <= 0 {
		in.SaveEvery = DefaultSaveEvery
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	a := newApplier(ctx, in, stop)
	if ds := a.refused(); ds.HasErrors() {
		return Result{State: a.record.state()}, ds
	}
	a.walk(ctx)
	state, ds := a.finish(ctx)
	return Result{State: state, Digests: a.digests.record(), Left: a.left + int(a.unbegun.Load())}, ds
}

// An applier applies one plan. It carries out the steps, each with an [object], gets the values of other
// resources from [values], and writes to its [record] and [report].
type applier struct {
	in       Input
	ctx      context.Context // the commands of provisioners end when it ends
	s        *session.Session
	deps     *dependencies.Graph
	forced   dependencies.Forced
	nested   map[*config.Resource]string // the data blocks in check blocks, with the names of the check blocks
	record   *record
	failures *failures
	report   *report
	values   *values
	// unread are the data blocks in check blocks that the apply did not reach. left is the number of actions
	// that it did not begin.
	unread map[addrs.ConfigResource]bool
	left   int
	// invocations are the actions of triggers, by the resource instance that triggers them. unbegun is the
	// number of such actions that were not invoked because the apply was stopped.
	invocations map[addrs.AbsResourceInstance][]*plans.Invocation
	unbegun     atomic.Int64
	// referenced has, for the content of each module, the resources that expressions in it refer to.
	referenced map[*config.Content]map[addrs.Resource]bool

	digests *keeper

	mu        sync.Mutex
	deposedAs map[*plans.ResourceChange]addrs.DeposedKey // key of the deposed object that a change has replaced
}

// newApplier prepares an apply without calling a provider. The instances of blocks come from the plan:
// expanding count and for_each again could give other instances than approved, for example with uuid() or a
// data source that is read now.
func newApplier(ctx context.Context, in Input, stop context.CancelCauseFunc) *applier {
	deps := dependencies.New(in.Config, in.Refs)
	a := &applier{
		in: in, ctx: ctx, deps: deps, record: newRecord(in, stop), failures: newFailures(deps, in.Refs), report: new(report),
		forced:     deps.ForcedInstances(remaining(in.Plan), destroyers(in.Plan)), // also for instances without a planned change
		nested:     session.NestedData(in.Config),
		referenced: referenced(in.Config, in.Refs),
		unread:     map[addrs.ConfigResource]bool{},

		invocations: in.Plan.Triggered(),
		deposedAs:   map[*plans.ResourceChange]addrs.DeposedKey{},
		digests:     newKeeper(in.Plan),
	}
	a.s = &session.Session{Environment: in.Environment}
	a.values = newValues(in.Plan, a.s, a.record, a.failures, a.report)
	a.values.namedByOwnActions = namedByOwnActions(in.Plan, in.Config, in.Refs)
	a.s.Eval = eval.New(ctx, eval.Phase{
		Program: in.Program, Variables: in.Variables, Resource: a.values.resource, Count: a.values.count,
		CallKeys: func(m addrs.ModuleInstance, call string) ([]addrs.InstanceKey, bool) {
			keys, ok := in.Plan.Instances.Calls[plans.CallInstance{Module: m, Call: call}]
			return keys, ok
		},
		ResourceKeys: func(r addrs.AbsResource) ([]addrs.InstanceKey, bool) {
			keys, ok := in.Plan.Instances.Resources[r]
			return keys, ok
		},
		Applying: true, Impure: in.impure(), ValidationsWarn: in.Plan.Mode == plans.DestroyMode,
	})
	return a
}

// finish evaluates the outputs and checks, closes ephemeral resources, and saves the state. It also runs
// after a stop: the state then has the outputs that follow from everything done.
func (a *applier) finish(ctx context.Context) (*states.State, diags.Diagnostics) {
	a.values.openRest(ctx)
	end := newConclusion(a)
	end.values()
	end.emptyResources(ctx)
	// Closing may revoke a lease or end a tunnel, so it happens even after a stop.
	a.report.add(a.s.CloseEphemerals(context.WithoutCancel(ctx)))
	a.report.add(a.record.save(ctx))
	ds := slices.Concat(a.report.all(), a.s.Diagnostics(), a.s.Eval.Diagnostics()).Distinct()
	if a.in.Plan.Chosen() {
		option := "-target"
		if len(a.in.Plan.Excludes) > 0 {
			option = "-exclude"
		}
		ds = append(ds, diags.Warningf(nil, "Applied changes may be incomplete",
			"The plan was made with the %s option, so there may be changes in the configuration that were not applied, and outputs that do not show what was. Run \"lockstep plan\" without %[1]s to see whether anything is left to do.\n\nThe %[1]s option is for recovering from errors, not for routine use.", option)...)
	}
	return a.record.state(), ds
}
