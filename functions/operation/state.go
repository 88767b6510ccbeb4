package operation

import (
	"context"
	"errors"
	"time"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// A Lock describes the lock that an operation takes.
type Lock struct {
	// None takes no lock, at a person's word: the state is written all the same. The server is asked whether it
	// keeps the conditions that protect the state then.
	None bool
	// Operation is Terraform's word, such as "OperationTypePlan".
	Operation string
	// Info is a text for whoever meets the lock.
	Info string
	// Timeout is the time to wait while somebody else holds the lock.
	Timeout time.Duration
	// Run is the run that the lock is taken for; "": one of its own.
	Run string
	// HardStop is the moment at which this process ends whatever it does, such as the end of a
	// function's invocation; zero: the lease of the lock is renewed until Unlock or Close.
	HardStop time.Time
	// Continues is set if an earlier process has worked on Run, and a record of the caller's proves
	// that it is over. Its lock, which it has kept, is taken over at once.
	Continues bool
	// Refused turns the error of a lock that was not acquired, possibly a
	// *statebackend.LockedError, into diagnostics. nil: the words are those for a command line.
	Refused func(error) diags.Diagnostics
	// now is the wall clock; nil: time.Now. Clocks jump.
	now func() time.Time
}

// OpenState opens a workspace of a backend, takes its lock, unless lock is nil, reads the state, and
// recovers from an apply that has crashed: see [Recovery].
// Beside errors nothing is locked, but for a lock that was taken over: it stays until its run is
// recovered. Without, the lock is held until [Operation.Unlock]. Where the backend
// has leases, the lock carries one, and that of a dead run is taken over. An operation that is closed
// without Unlock leaves its lock to whoever continues its run, and to everybody when the lease ends.
func (o *Operation) OpenState(ctx context.Context, b statebackend.Backend, workspace string, lock *Lock) diags.Diagnostics {
	st, ds := workdir.OpenState(b, workspace)
	if ds.HasErrors() {
		return ds
	}
	o.State = st
	if lock != nil && lock.None {
		if err := o.unfit(ctx); err != nil {
			ds = append(ds, diags.Warningf(nil, "The server ignores conditional writes", "%s", err)...)
		}
		lock = nil
	}
	if lock != nil {
		if ds = append(ds, o.lock(ctx, lock)...); ds.HasErrors() {
			return ds
		}
	}
	if more := st.Read(ctx); more.HasErrors() {
		return append(append(ds, more...), o.giveUp(ctx)...)
	}
	o.Opened = Identity{}
	if st.Exists() {
		o.Opened = Identity{st.Current.Lineage, st.Current.Serial, string(st.Version())}
	}
	more := o.recover(ctx, lock != nil)
	if ds = append(ds, more...); more.HasErrors() {
		ds = append(ds, o.giveUp(ctx)...)
	}
	return ds
}

// unfit returns the *statebackend.UnfitError of a server that does not keep conditions on writes. Whatever else
// is wrong with it shows in time.
func (o *Operation) unfit(ctx context.Context) error {
	w, ok := o.State.Workspace.(statebackend.Conditional)
	if !ok {
		return nil
	}
	if err := w.CheckConditions(ctx); errors.As(err, new(*statebackend.UnfitError)) {
		return err
	}
	return nil
}

func (o *Operation) lock(ctx context.Context, l *Lock) diags.Diagnostics {
	info := statebackend.NewLockInfo(l.Operation, engine.LanguageVersion)
	if l.Info != "" {
		info.Info = l.Info
	}
	o.OnClose(o.State.Rest)
	how := workdir.Locking{Info: info, Timeout: l.Timeout, Run: l.Run, HardStop: l.HardStop, Continues: l.Continues, Now: l.now}
	if l.Refused == nil {
		if ds := o.State.Lock(ctx, how); ds.HasErrors() {
			return ds
		}
	} else if err := o.State.TakeLock(ctx, how); err != nil {
		return l.Refused(err)
	}
	return takeover(o.State.Holding())
}

// giveUp releases the lock of a state that cannot be used. One that was taken over stays: it keeps
// tools away that do not know the journal, and ours take it over again.
func (o *Operation) giveUp(ctx context.Context) diags.Diagnostics {
	if o.State.Holding().TookOver() {
		o.Leave()
		return nil
	}
	return o.Unlock(ctx)
}

// Leave keeps the lock at the end of this process, for the one that continues its run (see
// [Lock.Continues]), and for any other when the lease ends. Unlock does nothing then.
func (o *Operation) Leave() {
	if o.State != nil {
		o.State.Leave()
	}
}

// Unlock releases the lock of the state, if it is held, even if ctx has ended: an interrupted
// operation must not leave its lock behind.
func (o *Operation) Unlock(ctx context.Context) diags.Diagnostics {
	if o.State == nil {
		return nil
	}
	return o.State.Unlock(context.WithoutCancel(ctx))
}

// Save stores the next state, if its content differs from the stored one, even if ctx has ended.
func (o *Operation) Save(ctx context.Context, next *states.State) error {
	return o.State.Write(context.WithoutCancel(ctx), next)
}

// SaveFirst stores an empty state where there is none: an operation that has succeeded leaves a state
// behind, even if there was nothing to do.
func (o *Operation) SaveFirst(ctx context.Context) error {
	if o.State.Exists() {
		return nil
	}
	return o.State.Replace(context.WithoutCancel(ctx), o.State.Next(states.Empty()))
}

// Known returns the state as a file, as Lockstep lays it out; nothing if there is none. Where a journal
// has more than the stored state, it is the one that the next run will store.
func (o *Operation) Known() ([]byte, error) {
	if !o.State.Exists() {
		return nil, nil
	}
	if o.State.Stored() {
		return statefile.Write(o.State.Current)
	}
	return statefile.Write(o.State.Next(o.State.Current))
}
