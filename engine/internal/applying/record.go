package applying

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A record is the changing state: the state in memory, and what is saved of it. Saves contain only complete
// steps. Safe for concurrent use.
//
// Two locks keep a save from delaying the steps: mu is held for one edit, saving for one save. An edit
// reaches the journal after mu is released. Edits of one object never happen at the same time, since its
// steps are ordered. Edits of different objects may come in any order.
type record struct {
	journal *journaling.Journal // may be nil
	store   func(context.Context, *states.State) error
	stop    context.CancelCauseFunc // ends the apply

	mu      sync.Mutex
	editor  *states.Editor
	changes int // number of changes since the last save

	saving sync.Mutex // held during a save
	saved  *states.State
	size   int // number of objects in the saved state
}

func newRecord(in Input, stop context.CancelCauseFunc) *record {
	r := &record{journal: in.Journal, store: in.Save, stop: stop, editor: in.Plan.PriorState.Edit(), saved: in.Plan.PriorState}
	r.size = sizeOf(r.saved)
	if in.Progress != nil {
		r.editor, r.saved = in.Progress.State.Edit(), nil
	}
	if in.Plan.PrevRunState != nil {
		unforesee(r.editor, in.Plan.PrevRunState)
	}
	return r
}

// unforesee gives the root outputs in a state the values that they had before the plan. The prior state of a
// plan already has the new values of outputs, as far as they were known. An apply may store a new value only
// after the steps that the value depends on have succeeded: see [conclusion.newOutputs].
func unforesee(e *states.Editor, prev *states.State) {
	for name := range e.Current().Outputs() {
		if _, was := prev.Output(name); !was {
			e.RemoveOutput(name)
		}
	}
	for name, o := range prev.Outputs() {
		e.SetOutput(name, o)
	}
}

// sizeOf returns the number of objects in a state.
func sizeOf(s *states.State) int {
	n := 0
	for _, r := range s.Resources() {
		for _, in := range r.Instances {
			n += 1 + len(in.Deposed)
		}
	}
	return n
}

// set records an object; nil removes it. The journal stores the edit with its next record, at the latest with
// the outcome of the call that caused the edit.
func (r *record) set(addr addrs.ResourceInstanceObject, pc addrs.AbsProviderConfig, o *states.Object) {
	r.mu.Lock()
	was := r.editor.Current().Object(addr)
	r.editor.SetObject(addr, pc, o)
	r.changes++
	r.mu.Unlock()
	r.journal.Edit(addr, pc, was, o)
}

// move moves an object to another address in one step. So no save has the object at both addresses, or at none.
func (r *record) move(o *states.Object, pc addrs.AbsProviderConfig, from, to addrs.ResourceInstanceObject) {
	r.mu.Lock()
	r.editor.SetObject(to, pc, o)
	r.editor.SetObject(from, pc, nil)
	r.changes++
	r.mu.Unlock()
	r.journal.Move(from, to, pc, o)
}

// object returns an object; nil if the state has none at this address.
func (r *record) object(addr addrs.ResourceInstanceObject) *states.Object {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.editor.Current().Object(addr)
}

// instances returns the keys of a resource's instances, in random order.
func (r *record) instances(abs addrs.AbsResource) []addrs.InstanceKey {
	r.mu.Lock()
	defer r.mu.Unlock()
	var keys []addrs.InstanceKey
	if res := r.editor.Current().Resource(abs); res != nil {
		for k := range res.Instances {
			keys = append(keys, k)
		}
	}
	return keys
}

// edit calls f, which may make any changes to the state. All these changes are one step.
func (r *record) edit(f func(*states.Editor)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(r.editor)
	r.changes++
}

// state returns a snapshot of the current state.
func (r *record) state() *states.State {
	s, _ := r.changed()
	return s
}

// changed returns the current state, and the number of changes since the last save.
func (r *record) changed() (s *states.State, changes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.editor.State(), r.changes
}

// save stores the state if it has changed since the last save. If the state cannot be stored, the apply
// stops: nothing new is started. A stop never interrupts a save.
//
// States are immutable, so an equal pointer means an equal state. Saves run one after the other: otherwise an
// older state could reach the store last and win.
func (r *record) save(ctx context.Context) diags.Diagnostics {
	if r.store == nil {
		return nil
	}
	r.saving.Lock()
	defer r.saving.Unlock()
	st, changes := r.changed()
	if st == r.saved {
		return nil
	}
	if err := r.store(context.WithoutCancel(ctx), st); err != nil {
		r.stop(errors.New("the state could not be saved"))
		return diags.FromError("Failed to save state", err)
	}
	r.saved, r.size = st, sizeOf(st)
	r.mu.Lock()
	r.changes -= changes
	r.mu.Unlock()
	return nil
}

// share says when an early save is worth it: after changes of one in share objects, a quarter. If a state grows
// by a quarter between saves, all saves together have five times the bytes of the last one.
const share = 4

// worthSaving reports whether enough has changed for an early save. Without a journal, one change is enough.
func (r *record) worthSaving() bool {
	r.saving.Lock()
	defer r.saving.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.journal == nil || r.changes*share >= r.size
}

// paced returns save with a pause after each call, nine times as long as the call. A save of n objects takes
// time in proportion to n, so an apply of n changes spends at most a tenth of its time on saves. No pause is
// longer than longest.
//
// If there is a journal, the pause is exactly longest, until a share of the objects has changed. So the bytes
// of all saves are in proportion to the changes, too.
//
// The length of a call is the shortest of the last few: on a busy machine, single saves may be slow, which must
// not delay the next saves.
func (r *record) paced(longest time.Duration) func(context.Context) diags.Diagnostics {
	const few = 4
	var lengths []time.Duration
	var next, latest time.Time
	return func(ctx context.Context) diags.Diagnostics {
		start := time.Now()
		early := start.Before(next) || start.Before(latest) && !r.worthSaving()
		if early && ctx.Err() == nil {
			return nil
		}
		before := r.saved
		ds := r.save(ctx)
		if r.saved == before {
			return ds
		}
		end := time.Now()
		lengths = append(lengths, end.Sub(start))
		lengths = lengths[max(0, len(lengths)-few):]
		next, latest = end.Add(min(9*slices.Min(lengths), longest)), end.Add(longest)
		return ds
	}
}
