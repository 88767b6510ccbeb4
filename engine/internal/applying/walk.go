package applying

import (
	"context"
	"errors"
	"time"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/internal/dependencies"
	"github.com/lockstep-iac/lockstep/engine/internal/order"
	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/walk"
)

// errStep is the result of a step whose errors are in the report.
var errStep = errors.New("the step reported errors")

// walk carries out the steps. It reads data blocks in check blocks last, and only if everything else
// succeeded: they check the finished infrastructure from outside, and have no place in the order of
// dependencies.
func (a *applier) walk(ctx context.Context) {
	// Save twice in each interval, so that the saved state is never older than the interval.
	interval, save := a.in.SaveEvery/2, a.record.save
	if a.in.SaveSoon {
		interval, save = soon(a.in.Journal), a.record.paced(a.in.SaveEvery/2)
	}
	stopSaving := walk.Every(ctx, interval, func() { a.report.add(save(ctx)) })
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
		a.invokeRequested(ctx)
		a.carryOut(ctx, last)
	} else {
		for _, c := range last {
			a.unread[c.Addr.Instance.Config()] = true
		}
	}
}

// isNested reports whether a change is about a data block inside a check block.
func (a *applier) isNested(c *plans.ResourceChange) bool {
	if c.Action != plans.Read {
		return false
	}
	cr := c.Addr.Instance.Config()
	m := a.in.Config.Modules[cr.Module]
	return m != nil && m.Resources[cr.Resource] != nil && a.nested[m.Resources[cr.Resource]] != ""
}

// carryOut carries out changes, and reports whether all succeeded. After a failed step, the steps that depend
// on it are skipped, and all others continue.
//
// Failures are recorded twice. During the walk, each failed step is recorded when it ends, for evaluating
// values in steps that run at the same time. After the walk, steps that were skipped or not started are
// recorded, too: outputs and checks must not rely on them.
//
// A failed deletion does not count as a failure here. The object still exists, with its old value, and its
// dependents in the configuration have lost nothing. [object.lost] is the exception.
func (a *applier) carryOut(ctx context.Context, changes []*plans.ResourceChange) bool {
	g := a.steps(changes)
	steps := a.in.LimitProviders(walk.Graph{N: len(g.Steps), After: g.After}, func(i int) addrs.Provider {
		switch step := g.Steps[i]; step.Verb {
		case order.Barrier, order.Verify, order.Forget:
			return addrs.Provider{} // no provider is called
		default:
			return changes[step.Change].Provider.Provider
		}
	})
	results := walk.Run(ctx, a.in.Calls(), steps, func(ctx context.Context, i int) error {
		step := g.Steps[i]
		if step.Verb == order.Barrier {
			return nil
		}
		return a.carryOutStep(ctx, step, changes[step.Change])
	})
	left, well := 0, true
	for i, err := range results {
		if err == nil {
			continue
		}
		well = false
		if step := g.Steps[i]; step.Verb != order.Barrier {
			if step.Verb != order.Delete {
				addr := changes[step.Change].Addr.Instance
				a.failures.instance(addr)
				a.failures.block(addr.Config())
			}
			if !errors.Is(err, errStep) && !errors.Is(err, walk.ErrSkipped) && step.Verb != order.Verify {
				if was, _ := a.fateOf(step, changes[step.Change]); was == notBegun || was == interrupted {
					left++
				}
			}
		}
	}
	if a.left += left; left > 0 {
		a.report.add(diags.Errorf(nil, "Apply was interrupted",
			"%d planned actions were not started: %s. What has been done is in the state; plan again to see what remains.", left, context.Cause(ctx)))
	}
	return well
}

// carryOutStep carries out a step, and reports its diagnostics. It returns errStep or nil.
func (a *applier) carryOutStep(ctx context.Context, step order.Step, c *plans.ResourceChange) error {
	x := a.of(c)
	ds := a.s.Complete(a.step(ctx, step, c), x.r, c.Schema, x.address())
	if err := a.in.Journal.Flush(context.WithoutCancel(ctx)); err != nil {
		ds = append(ds, unjournaled(a.record.stop, err)...)
	}
	a.report.add(ds)
	if !ds.HasErrors() {
		return nil
	}
	if step.Verb != order.Delete {
		a.failures.instance(c.Addr.Instance)
	}
	// If all errors only refer to others reported elsewhere, a value that the step needs has failed, and the
	// provider was not called.
	if !ds.Unreported().HasErrors() {
		a.failures.notCreated(c.Addr.Instance.AbsResource())
	}
	return errStep
}

// steps returns the ordered steps of changes.
//
// It passes stored dependencies only for objects that exist in the state before the apply. An object to
// create has none, nor has a data source to read; and a no-op does nothing that could come too early.
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

// step carries out one step of a change. Its first half handles what earlier processes have done: see the
// essay in resuming.go. If a step is done already, its conditions are still evaluated, because the journal
// does not have their results.
func (a *applier) step(ctx context.Context, step order.Step, c *plans.ResourceChange) diags.Diagnostics {
	invokes := a.of(c).hasInvocations(step.Verb == order.Delete)
	if step.Verb == order.Verify && !a.hasConditions(c) && !invokes {
		return nil
	}
	was, call := a.fateOf(step, c)
	if was != notBegun {
		a.replaced(c)
	}
	if was == done && !invokes && (step.Verb == order.Delete || step.Verb == order.Forget || !a.hasConditions(c)) {
		return nil
	}
	x, ds := a.open(ctx, c)
	if ds.HasErrors() {
		return ds
	}
	switch was {
	case done:
		if step.Verb == order.Delete {
			return append(ds, x.afterDestroying(ctx)...)
		}
		if ds = append(ds, x.verify()...); ds.HasErrors() {
			return ds
		}
		return append(ds, x.afterRecorded(ctx)...)
	case failed, inDoubt, unprovisioned:
		return append(ds, x.failedBefore(was, call)...)
	}
	x.interrupted = was == interrupted
	return append(ds, x.do(ctx, step.Verb)...)
}

func (x *object) do(ctx context.Context, verb order.Verb) diags.Diagnostics {
	switch verb {
	case order.Create, order.Update:
		return x.make(ctx)
	case order.Delete:
		return x.delete(ctx)
	case order.Read:
		return x.read(ctx)
	case order.Forget:
		x.a.record.set(x.c.Addr, x.c.Provider, nil)
	case order.Verify:
		ds := x.verify()
		if ds.HasErrors() {
			return ds
		}
		return append(ds, x.afterRecorded(ctx)...)
	}
	return nil
}

// soon returns the shortest time between two saves of the state. With a journal it is longer, since the journal
// has the changes that are not saved yet.
func soon(j *journaling.Journal) time.Duration {
	if j != nil {
		return JournaledSaved
	}
	return SoonSaved
}
