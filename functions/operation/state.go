package operation

import (
	"context"
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
	// Operation is Terraform's word, such as "OperationTypePlan".
	Operation string
	// Info is a text for whoever meets the lock.
	Info string
	// Timeout is the time to wait while somebody else holds the lock.
	Timeout time.Duration
	// Refused turns the error of a lock that was not acquired, possibly a
	// *statebackend.LockedError, into diagnostics. nil: the words are those for a command line.
	Refused func(error) diags.Diagnostics
}

// OpenState opens a workspace of a backend, takes its lock, unless lock is nil, reads the state, and
// recovers from an apply that has crashed: see [Recovery].
// Beside errors nothing is locked; without, the lock is held until [Operation.Unlock].
func (o *Operation) OpenState(ctx context.Context, b statebackend.Backend, workspace string, lock *Lock) diags.Diagnostics {
	st, ds := workdir.OpenState(b, workspace)
	if ds.HasErrors() {
		return ds
	}
	o.State = st
	if lock != nil {
		if ds = append(ds, o.lock(ctx, lock)...); ds.HasErrors() {
			return ds
		}
	}
	if more := st.Read(ctx); more.HasErrors() {
		return append(append(ds, more...), o.Unlock(ctx)...)
	}
	o.Opened = Identity{}
	if st.Exists() {
		o.Opened = Identity{st.Current.Lineage, st.Current.Serial, string(st.Version())}
	}
	if ds = append(ds, o.recover(ctx, lock != nil)...); ds.HasErrors() {
		ds = append(ds, o.Unlock(ctx)...)
	}
	return ds
}

func (o *Operation) lock(ctx context.Context, l *Lock) diags.Diagnostics {
	info := statebackend.NewLockInfo(l.Operation, engine.LanguageVersion)
	if l.Info != "" {
		info.Info = l.Info
	}
	if l.Refused == nil {
		return o.State.Lock(ctx, info, l.Timeout)
	}
	if err := o.State.TakeLock(ctx, info, l.Timeout); err != nil {
		return l.Refused(err)
	}
	return nil
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

// Known returns the state as a file: the stored one, or where a journal has more, the one that the
// next run will store.
func (o *Operation) Known() ([]byte, error) {
	if o.State.Stored() {
		return o.State.Bytes(), nil
	}
	return statefile.Write(o.State.Next(o.State.Current))
}
