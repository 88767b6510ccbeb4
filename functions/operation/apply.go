package operation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/journal"
)

// An Applied is the result of an apply.
type Applied struct {
	// State is the new state. After a failed apply it is set, too.
	State *states.State
	// Unsaved is set if the backend refused to store State. The caller must then store it elsewhere. Otherwise,
	// nobody would know which objects exist.
	Unsaved bool
	// Tally has the completed actions, and those that were not begun. It includes actions of earlier processes
	// that applied the same plan.
	Tally *Tally
	// Left is the number of steps that were not begun because ctx ended. Steps include reading data sources and
	// removing objects from the state. If Resumable is set, another apply of the same saved plan continues with
	// these steps.
	Left      int
	Resumable bool
}

// Apply applies a plan. r comes from [Operation.Run]. Apply sets the field Save of options, so that the state
// is saved at the end and, as options say, during the apply. When ctx ends, Apply begins no more actions,
// waits for those in progress, and saves the state; see [engine.Apply] for what ends them.
//
// An apply of a saved plan that was stopped or killed can be continued. The next process sets
// [Operation.Planned] to the same [PlanID], opens the state with its lock, and calls Apply with the same
// plan.
func (o *Operation) Apply(ctx context.Context, r engine.Run, p *plans.Plan, options engine.ApplyOptions) (Applied, diags.Diagnostics) {
	out := Applied{Tally: newTally(p)}
	r.Events = out.Tally.before(r.Events)
	if err := o.State.Prepare(ctx); err != nil {
		out.State = o.State.Current
		return out, diags.FromError("The state could not be stored", fmt.Errorf("%w; nothing was changed", err))
	}
	w, ds := o.openJournal(context.WithoutCancel(ctx), p, &options)
	if ds.HasErrors() {
		out.State = o.State.Current
		return out, ds
	}
	out.Tally.goOn(options.Progress)
	if o.Counting != nil {
		o.Counting(out.Tally)
	}
	caller := ctx
	ctx, end := o.State.While(ctx)
	defer end(nil)
	if o.Providers != nil {
		defer o.stopWithLease(o.Providers.Guard)()
	}
	var lost error
	stored := false
	options.Save = func(ctx context.Context, s *states.State) error {
		err := o.State.Write(ctx, s)
		if w != nil && w.complete() && errors.As(err, new(*statebackend.LockLostError)) && o.unfit(ctx) == nil {
			lost = err // the journal has everything
			end(err)
			return nil
		}
		stored = err == nil
		out.Unsaved = err != nil // a later save has everything that an earlier one lacks
		return err
	}
	result, more := engine.Apply(ctx, r, p, options)
	out.State, out.Left = result.State, result.Left
	ds = append(ds, more...)
	begun := false
	if w != nil {
		var denied, failed error
		switch begun, denied, failed = w.result(); {
		case denied != nil:
			ds = append(ds, unjournaled(w.log, denied)...)
			w, options.Journal, o.State.BeforePut = nil, nil, nil
		case failed != nil && !begun:
			out.State, out.Unsaved, o.State.BeforePut = o.State.Current, false, nil
			return out, ds
		}
	}
	ds = append(ds, o.inDoubt(options.Journal, out.State)...)
	if stored && !out.Unsaved && lost == nil {
		ds = append(ds, o.keepDigests(ctx, p, result.Digests)...)
	}
	switch {
	case lost != nil && w.complete():
		ds = append(ds, deposed(lost, o.logOf().Place())...)
	case lost != nil:
		out.Unsaved = true
	case w == nil || out.Unsaved:
	case o.Planned != "" && out.Left > 0 && caller.Err() != nil:
		out.Resumable, o.State.BeforePut = true, nil // the journal stays
	case o.Ended != nil && o.Ended(out, ds) != nil:
		o.State.BeforePut = nil // the journal stays
	case !begun:
		o.State.BeforePut = nil // the journal is as it was
	default:
		ds = append(ds, o.endJournal(ctx, w.Writer)...)
	}
	return out, ds
}

// inDoubt reports creations and actions that were begun, and whose results are not recorded. From now on, they
// wait for the decision of a person. s is the state, which does not contain them.
func (o *Operation) inDoubt(j *journaling.Journal, s *states.State) diags.Diagnostics {
	var doubts []journaling.Open
	for _, x := range j.Unanswered() {
		if !x.Repeatable() {
			doubts = append(doubts, x)
		}
	}
	doubts = ordered(doubts)
	o.Recovery.Unresolved = append(o.Recovery.Unresolved, doubts...)
	return doubtful(doubts, s)
}

// openJournal makes this process the writer of the journal. It records the state from which the apply starts,
// or continues with the progress in the journal. If the rights do not allow a journal, the apply continues
// without one: the result is nil, and the diagnostics contain a warning.
func (o *Operation) openJournal(ctx context.Context, p *plans.Plan, options *engine.ApplyOptions) (*guarded, diags.Diagnostics) {
	h := o.State.Holding()
	if h != nil {
		// A person may have read the plan for a long time before approving it. So check that this process still
		// has the lock.
		if err := h.Confirm(ctx); err != nil {
			return nil, diags.Errorf(nil, "The state lock was lost", "%s. Nothing was changed. Plan again.", err)
		}
	}
	log := o.logOf()
	if log == nil {
		return nil, nil
	}
	o.OnClose(func() { log.Close() })
	run := o.newRun()
	w, records, err := o.takeJournal(ctx, log, run)
	if errors.Is(err, statebackend.ErrDenied) && o.Begun == nil {
		return nil, unjournaled(log, err)
	}
	if err != nil {
		return nil, diags.FromError("Error opening the journal", err)
	}
	j := journaling.New(run, w)
	if h != nil {
		j.Guard(h.Check)
	}
	var ds diags.Diagnostics
	if o.Begun != nil {
		options.Progress, ds = o.goOn(log, p, records)
	} else {
		ds = diags.FromError("Error opening the journal", o.begin(log, j, p, records))
	}
	if ds.HasErrors() {
		return nil, ds
	}
	options.Journal, o.State.BeforePut = j, saving(j)
	return w, nil
}

// unjournaled returns the warning that the apply has no journal, because Lockstep's rights do not
// permit it to store one.
func unjournaled(log statebackend.Log, err error) diags.Diagnostics {
	return diags.Warningf(nil, "No journal is kept",
		"%s. If this apply is killed, the state may lack objects that it has created. Allow Lockstep to read, write, list and delete objects below %s.", err, log.Place())
}

// begin records in the journal that an apply begins. records are the records that the journal already has.
func (o *Operation) begin(log statebackend.Log, j *journaling.Journal, p *plans.Plan, records []journal.Record) error {
	if !slices.EqualFunc(linesOf(records), o.left, bytes.Equal) {
		return othersApply(log)
	}
	return j.Begin(journaling.Start{
		Plan: o.Planned, Stored: o.State.Current, Prior: p.PriorState,
		Sum: o.State.Sum(), Lineage: o.State.Next(o.State.Current).Lineage,
	})
}

// othersApply returns the error that another process has written to the journal after this process had read it.
func othersApply(log statebackend.Log) diags.Diagnostics {
	return diags.Errorf(nil, "Another process is applying",
		"Another process has written the journal %s since Lockstep read the state. That process has lost its lock, and is still applying. Nothing was changed. Wait until it has ended, then plan again.", log.Place())
}

// takeJournal makes this process the only writer of the journal. It makes no request if the journal was read
// under the lock, and each request costs money. In this case, the first record that is written has the same
// effect.
func (o *Operation) takeJournal(ctx context.Context, log statebackend.Log, run string) (*guarded, []journal.Record, error) {
	if o.history == nil || o.Begun != nil || log.Exclusive() {
		w, records, err := journal.Open(ctx, log, run)
		return &guarded{Writer: w, log: log, begun: true}, records, err
	}
	h := *o.history
	o.history = nil
	return &guarded{Writer: journal.Continue(log, run, h), log: log}, h.Records(), nil
}

// endJournal deletes the journal once the stored state contains all results in it. If the journal could not be
// written completely, it is kept, and the next run recovers the state from it.
func (o *Operation) endJournal(ctx context.Context, w *journal.Writer) diags.Diagnostics {
	o.State.BeforePut = nil
	if err := o.keep(ctx, w, o.Recovery); err != nil {
		return diags.Warningf(nil, "The journal was not removed", "%s. The state is complete, and the next run removes the journal. You need not do anything.", err)
	}
	return nil
}
