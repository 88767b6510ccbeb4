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
	// State is the new state. It is set for a failed apply, too.
	State *states.State
	// Unsaved is set if the backend refused State. Nothing else records what exists now, so the caller must
	// store it.
	Unsaved bool
	// Tally has the completed actions, and those that were not begun. Actions of earlier processes count, too.
	Tally *Tally
	// Left is the number of steps that were not begun because ctx ended. Reads and removals count, too. If the
	// apply is Resumable, another apply of the same saved plan continues with them.
	Left      int
	Resumable bool
}

// Apply applies a plan in the run r of [Operation.Run]. It saves the state at the end, and on the way as
// options say; it sets their Save. When ctx ends, no more actions begin. Those under way are completed, and the
// state is saved: see [engine.Apply] for what ends them.
//
// An apply of a saved plan that was stopped or killed can be continued. The next process sets
// [Operation.Planned] to the same [PlanID], opens the state with its lock, and calls Apply with the same plan.
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
	caller := ctx
	ctx, end := o.State.While(ctx)
	defer end(nil)
	if o.Providers != nil {
		defer o.stopWithLease(o.Providers.Guard)()
	}
	var lost error
	options.Save = func(ctx context.Context, s *states.State) error {
		err := o.State.Write(ctx, s)
		if w != nil && w.complete() && errors.As(err, new(*statebackend.LockLostError)) && o.unfit(ctx) == nil {
			lost = err // the journal has everything
			end(err)
			return nil
		}
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

// inDoubt reports the creations and actions without an answer. From now on they wait for a person. s is the state without
// them.
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

// openJournal takes the journal over. It records the state that the apply starts from, or continues with the
// recorded progress. If the rights do not allow a journal, the apply continues without one, and says so. The
// writer is nil without a journal.
func (o *Operation) openJournal(ctx context.Context, p *plans.Plan, options *engine.ApplyOptions) (*guarded, diags.Diagnostics) {
	h := o.State.Holding()
	if h != nil {
		// The lock is old by now: a person may have thought about the plan.
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

// unjournaled is the warning about an apply whose rights do not allow a journal.
func unjournaled(log statebackend.Log, err error) diags.Diagnostics {
	return diags.Warningf(nil, "No journal is kept",
		"%s. If this apply is killed, the state may lack objects that it has created. Allow Lockstep to read, write, list and delete objects below %s.", err, log.Place())
}

// begin records the beginning of an apply. records are the earlier records.
func (o *Operation) begin(log statebackend.Log, j *journaling.Journal, p *plans.Plan, records []journal.Record) error {
	if !slices.EqualFunc(linesOf(records), o.left, bytes.Equal) {
		return othersApply(log)
	}
	return j.Begin(journaling.Start{
		Plan: o.Planned, Stored: o.State.Current, Prior: p.PriorState,
		Sum: o.State.Sum(), Lineage: o.State.Next(o.State.Current).Lineage,
	})
}

// othersApply is the error about a journal that somebody has written to since it was read.
func othersApply(log statebackend.Log) diags.Diagnostics {
	return diags.Errorf(nil, "Another process is applying",
		"Another process has written the journal %s since Lockstep read the state. That process has lost its lock, and is still applying. Nothing was changed. Wait until it has ended, then plan again.", log.Place())
}

// takeJournal takes the journal over. If the journal was read under the lock and each request costs money, the
// first record takes it over.
func (o *Operation) takeJournal(ctx context.Context, log statebackend.Log, run string) (*guarded, []journal.Record, error) {
	if o.history == nil || o.Begun != nil || log.Exclusive() {
		w, records, err := journal.Open(ctx, log, run)
		return &guarded{Writer: w, log: log, begun: true}, records, err
	}
	h := *o.history
	o.history = nil
	return &guarded{Writer: journal.Continue(log, run, h), log: log}, h.Records(), nil
}

// endJournal removes a journal whose results are in the stored state. A journal that could not be completed
// stays, and the next run folds it.
func (o *Operation) endJournal(ctx context.Context, w *journal.Writer) diags.Diagnostics {
	o.State.BeforePut = nil
	if err := o.keep(ctx, w, o.Recovery); err != nil {
		return diags.Warningf(nil, "The journal was not removed", "%s. The state is complete, and the next run removes the journal. You need not do anything.", err)
	}
	return nil
}
