// Package applying carries out a plan: plan + prior state -> new state.
//
// It decides nothing. The instances and their actions are those of the plan, the order is that of package
// order. For each change, applying evaluates the configuration again with the values that are known by
// now, asks the provider to plan once more, compares both plans, and only then has the
// provider act. It may stop after any action: the state has all that was done by then, and
// the rest as the prior state has it.
//
// Every change of an object goes through one place ([object.effect]), and every action through another ([applier.invoke]),
// where the journal has the intent before it and the outcome after it. The package refuses to
// know where a state is stored: the caller has a function that saves it.
//
// Start at [Apply]. [applier.walk] carries out the steps, [object] is one change, [values] has the
// values of resources for it, [conclusion] the outputs and checks at the end.
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
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/dependencies"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provisioning"
	"github.com/lockstep-iac/lockstep/engine/states"
)

/*
# Two plans, one consent

A plan is made while many values do not exist yet. The ID that a provider has not given out stands in
it as unknown, and so does all that follows from the ID. Somebody has approved the plan with these
gaps. An apply closes them, step after step, and must do nothing else. Each creation and
update has three stages, with a check of its own in each:

 1. The configuration is evaluated again. By the order of the steps, all that it refers to is there
    now, so that nothing in it may be unknown any more ([object.prepare]).
 2. The provider plans again, for that configuration. Its second plan may fill the gaps of the first:
    values that were known stay, and an update stays one ([object.planAgain]).
 3. The provider acts. Its answer may fill the gaps of the second plan ([object.newState]).

A breach found in 1 or 2 ends the step before anything has happened. One found in 3 is too late for
that: the object exists, in whatever form. So the answer is recorded as far as it can be, beside the
error about it.

Source: Terraform's docs/resource-instance-change-lifecycle.md, where the two plans are the initial
and the final planned state. Their checks are in package schema.

# After a failure

A failed step ends only those that come after it; all others are carried out, as in Terraform. To
end at the first failure would leave a result that depends on the timing of calls. At the end,
outputs and checks that depend on the failure are left as they were. To evaluate them would give an
error for each, about a missing value, where only the first error has a cause that can be mended.
[failures] knows the dependents of each failure.

# Where the truth is

In memory: [record] has the state, which is edited after each answer of a provider, before any step that
depends on the answer. It is saved at intervals, since each save transfers the whole. In between,
the journal has the edits and the calls under way (see the essay in journal.go). Without a journal
a crash loses the work of one interval, as with Terraform. Failed calls and the end of the apply
are saved at once.
*/

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
	// Progress is that of earlier processes that have stopped or died on the way through the same
	// plan, and with whose journal Journal goes on; nil: there was none.
	Progress *journaling.Progress
	// ImpureCalls is the number of calls of impure functions by now, see [eval.Impure]; nil: the
	// Functions have none, or nobody is to go on.
	ImpureCalls func() int64
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

// JournaledSaved is the same where a journal has everything in the meantime. Readers of the state
// without it, such as stock tools, find one that is hardly older.
const JournaledSaved = time.Second

// A Result is the end of an apply.
type Result struct {
	// State has all objects that exist by then, also beside errors.
	State *states.State
	// Left is the number of actions that were not begun because the context ended. An apply with
	// something left can go on in another process from its journal: see [journaling.Resume].
	Left int
}

// Apply carries out the plan. When ctx ends, nothing new is started, calls under way may finish,
// and the actions that were not started are reported.
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
	return Result{State: state, Left: a.left + int(a.unbegun.Load())}, ds
}

// An applier is the applying of one plan: it carries out the steps, each on an [object], with the
// values of others from [values], and writes into its [record] and [report].
type applier struct {
	in       Input
	ctx      context.Context // commands of provisioners end with it
	s        *session.Session
	deps     *dependencies.Graph
	forced   dependencies.Forced
	nested   map[*config.Resource]string // the data blocks in checks, with the names of these
	record   *record
	failures *failures
	report   *report
	values   *values
	// unread are the data blocks in checks whose turn did not come, and left counts the actions.
	unread map[addrs.ConfigResource]bool
	left   int
	// invocations are the actions of triggers by their callers, and unbegun counts those that a stop has kept from being invoked.
	invocations map[addrs.AbsResourceInstance][]*plans.Invocation
	unbegun     atomic.Int64
	// referenced are the resources that expressions of their content refer to.
	referenced map[*config.Content]map[addrs.Resource]bool

	mu        sync.Mutex
	deposedAs map[*plans.ResourceChange]addrs.DeposedKey // the key of the object that a change has replaced
}

// newApplier prepares an apply, and calls no provider. The instances of blocks are those of the plan: to
// expand count and for_each again could give others than were approved, as with uuid() or a data
// source that is read now.
func newApplier(ctx context.Context, in Input, stop context.CancelCauseFunc) *applier {
	deps := dependencies.New(in.Config, in.Refs)
	a := &applier{
		in: in, ctx: ctx, deps: deps, record: newRecord(in, stop), failures: newFailures(deps, in.Refs), report: new(report),
		forced:     deps.ForcedInstances(remaining(in.Plan), destroyers(in.Plan)), // planned or not
		nested:     session.NestedData(in.Config),
		referenced: referenced(in.Config, in.Refs),
		unread:     map[addrs.ConfigResource]bool{},

		invocations: in.Plan.Triggered(),
		deposedAs:   map[*plans.ResourceChange]addrs.DeposedKey{},
	}
	a.s = &session.Session{Environment: in.Environment}
	a.values = newValues(in.Plan, a.s, a.record, a.failures, a.report)
	a.values.own = namedByOwnActions(in.Plan, in.Config, in.Refs)
	a.s.Eval = eval.New(ctx, eval.Phase{
		Program: in.Program, Variables: in.Variables, Resource: a.values.resource,
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

// finish evaluates the outputs and checks, closes ephemeral resources, and saves. It comes after a
// stop as well: the state then has the outputs that follow from all that was done.
func (a *applier) finish(ctx context.Context) (*states.State, diags.Diagnostics) {
	a.values.openRest(ctx)
	end := newConclusion(a)
	end.values()
	end.emptyResources(ctx)
	// Closing may revoke a lease or end a tunnel: a stop is no reason to leave them open.
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
