package operation

import (
	"context"
	"errors"
	"time"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// A Lock describes the lock that an operation takes on the state.
type Lock struct {
	// None is set if the user wants no lock, but still writes the state. OpenState then first checks that the
	// server enforces conditions on writes, which protect the state.
	None bool
	// Operation is Terraform's name for the operation, such as "OperationTypePlan".
	Operation string
	// Info is a text for people who find the state locked.
	Info string
	// Timeout is how long to wait while somebody else has the lock.
	Timeout time.Duration
	// Run is the ID of the run that takes the lock; "" means a new ID.
	Run string
	// HardStop is the latest time at which this process ends, such as the end of a Lambda invocation. If it is
	// zero, the lease of the lock is renewed until Unlock or Close.
	HardStop time.Time
	// Continues is set if Run is the ID of an earlier process, and a record shows that this process has ended.
	// OpenState then takes over the lock of that process at once.
	Continues bool
	// Refused returns the diagnostics for the error of a lock that could not be taken, which may be a
	// *statebackend.LockedError. nil means the messages of the command line.
	Refused func(error) diags.Diagnostics
	// now returns the time by the wall clock; nil means time.Now. The clock may jump.
	now func() time.Time
}

// OpenState opens a workspace of a backend, and locks it unless lock is nil. It reads the state, and recovers
// it from the journal of a crashed apply: see [Recovery].
//
// After success, the state is locked until [Operation.Unlock]. If the backend has leases, the lock has one, and
// OpenState takes over the lock of a dead run. After an error nothing is locked, with one exception: a lock
// that was taken over is kept until its run is recovered.
//
// If an operation is closed without Unlock, a process that continues the same run can take over the lock at
// once. All other processes can do so only when the lease ends.
func (o *Operation) OpenState(ctx context.Context, b statebackend.Backend, workspace string, lock *Lock) diags.Diagnostics {
	st, ds := workdir.OpenState(b, workspace)
	if ds.HasErrors() {
		return ds
	}
	o.State, st.Language = st, o.Language
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

// unfit returns a *statebackend.UnfitError if the server does not enforce conditions on writes. It ignores
// other errors of the server, because a later request will return them.
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
	info := statebackend.NewLockInfo(l.Operation, o.Language.Release())
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

// giveUp releases the lock of a state that cannot be used. It keeps a lock that was taken over: this lock stops
// other tools, which do not know the journal, and Lockstep can take it over once more.
func (o *Operation) giveUp(ctx context.Context) diags.Diagnostics {
	if o.State.Holding().TookOver() {
		o.Leave()
		return nil
	}
	return o.Unlock(ctx)
}

// Leave keeps the state locked when this process ends. A process that continues the same run can take over the
// lock at once (see [Lock.Continues]). All other processes can do so only when the lease ends. After Leave,
// Unlock does nothing.
func (o *Operation) Leave() {
	if o.State != nil {
		o.State.Leave()
	}
}

// Unlock releases the lock of the state, if there is one, even if ctx has ended: an interrupted operation must
// not leave the state locked.
func (o *Operation) Unlock(ctx context.Context) diags.Diagnostics {
	if o.State == nil {
		return nil
	}
	return o.State.Unlock(context.WithoutCancel(ctx))
}

// Save stores the state next, unless its content is the same as that of the stored state. It does so even if
// ctx has ended.
func (o *Operation) Save(ctx context.Context, next *states.State) error {
	return o.State.Write(context.WithoutCancel(ctx), next)
}

// SaveFirst stores an empty state if there is none yet. It is for operations that must leave a state after
// success, as in Terraform.
func (o *Operation) SaveFirst(ctx context.Context) error {
	if o.State.Exists() {
		return nil
	}
	return o.State.Replace(context.WithoutCancel(ctx), o.State.Next(states.Empty()))
}

// Known returns the content of the state in Lockstep's file format; nil if there is no state. If a journal has
// results that are not in the stored state, the content includes them, as the next run will store them.
func (o *Operation) Known() ([]byte, error) {
	if !o.State.Exists() {
		return nil, nil
	}
	if o.State.Stored() {
		return statefile.Write(o.State.Current)
	}
	return statefile.Write(o.State.Next(o.State.Current))
}

// Adopt gives the present state the provider addresses that fit the configuration, without storing it: see
// [config.Config.Adopt].
func (o *Operation) Adopt() {
	if s := o.Config.Adopt(o.State.Current); s != o.State.Current {
		o.State.Pretend(s)
	}
}
