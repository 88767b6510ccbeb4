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
	// None takes no lock, because a person asked for that: the state is written all the same. Then the server
	// is tested first for the conditions that protect the state.
	None bool
	// Operation is Terraform's word, such as "OperationTypePlan".
	Operation string
	// Info is a text for anybody who meets the lock.
	Info string
	// Timeout is how long to wait while somebody else holds the lock.
	Timeout time.Duration
	// Run is the run that the lock is taken for; "" means a new one.
	Run string
	// HardStop is when this process ends whatever it does, such as the end of a function's invocation. If it is
	// zero, the lease of the lock is renewed until Unlock or Close.
	HardStop time.Time
	// Continues is set if an earlier process has worked on Run, and a record of the caller proves that it has
	// ended. Its lock is taken over at once.
	Continues bool
	// Refused turns the error of a lock that was not acquired into diagnostics; it may be a
	// *statebackend.LockedError. nil means the messages of the command line.
	Refused func(error) diags.Diagnostics
	// now is the wall clock; nil means time.Now. Clocks jump.
	now func() time.Time
}

// OpenState opens a workspace of a backend, takes its lock unless lock is nil, reads the state, and recovers
// from a crashed apply: see [Recovery].
//
// After an error nothing is locked, except for a lock that was taken over: that stays until its run is
// recovered. Without an error, the lock is held until [Operation.Unlock]. If the backend has leases, the lock
// has one, and the lock of a dead run is taken over. An operation that is closed without Unlock leaves its lock
// to whoever continues its run, and to everybody when the lease ends.
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

// unfit returns the *statebackend.UnfitError of a server that does not enforce conditions on writes. Other
// problems of the server show up in time.
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

// giveUp releases the lock of a state that cannot be used. A lock that was taken over stays: it keeps tools
// away that do not know the journal, and our tools take it over again.
func (o *Operation) giveUp(ctx context.Context) diags.Diagnostics {
	if o.State.Holding().TookOver() {
		o.Leave()
		return nil
	}
	return o.Unlock(ctx)
}

// Leave keeps the lock at the end of this process, for the process that continues its run (see
// [Lock.Continues]), and for everybody when the lease ends. Unlock does nothing then.
func (o *Operation) Leave() {
	if o.State != nil {
		o.State.Leave()
	}
}

// Unlock releases the lock of the state if it is held, even if ctx has ended. An interrupted operation must not
// leave its lock behind.
func (o *Operation) Unlock(ctx context.Context) diags.Diagnostics {
	if o.State == nil {
		return nil
	}
	return o.State.Unlock(context.WithoutCancel(ctx))
}

// Save stores the next state if its content differs from the stored one, even if ctx has ended.
func (o *Operation) Save(ctx context.Context, next *states.State) error {
	return o.State.Write(context.WithoutCancel(ctx), next)
}

// SaveFirst stores an empty state if there is none. An operation that has succeeded leaves a state, even if
// there was nothing to do.
func (o *Operation) SaveFirst(ctx context.Context) error {
	if o.State.Exists() {
		return nil
	}
	return o.State.Replace(context.WithoutCancel(ctx), o.State.Next(states.Empty()))
}

// Known returns the state as a file in Lockstep's layout; nothing if there is none. If a journal has more than
// the stored state, Known returns what the next run will store.
func (o *Operation) Known() ([]byte, error) {
	if !o.State.Exists() {
		return nil, nil
	}
	if o.State.Stored() {
		return statefile.Write(o.State.Current)
	}
	return statefile.Write(o.State.Next(o.State.Current))
}
