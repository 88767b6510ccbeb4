package ledger

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A Lease says that a process is working on a message, and when it has certainly ended. If the lease still
// exists after that time, the process is dead.
type Lease struct {
	Message  pipeline.Message
	HardStop time.Time
	// Build is the ID of the build in which the process runs; "" outside of builds.
	Build string `json:",omitempty"`
}

// A Holder takes and releases the lease of a run, for the process that handles a message.
type Holder struct {
	Ledger  Ledger
	Message pipeline.Message
	// lease is the value of the lease that this process has taken; nil if it has taken none.
	lease []byte
}

// unlimited is the time after which a process without a time limit counts as dead.
const unlimited = 6 * time.Hour

// leases is the directory of all leases.
const leases = "lease"

func leaseKey(run string) string { return leases + "/" + url.PathEscape(run) }

// key returns the key of the holder's lease of a run. Tests have a lease of their own, because they run beside the
// plan.
func (h *Holder) key(run string) string {
	if h.Message.Kind == pipeline.ToTest {
		run += "/test"
	}
	return leaseKey(run)
}

// Hold takes the lease of a run, even if another process has it. The messages about a run are handled one after
// another. So the process with the lease is dead, or will soon find that the run has changed.
func (h *Holder) Hold(ctx context.Context, r runs.Run) error {
	return h.take(ctx, r, func([]byte) error { return nil })
}

// HoldAlone takes the lease of a run. If another process with the same message has the lease and may be alive,
// it returns a *pipeline.BusyError instead. That happens if the queue delivers a message once more too early.
func (h *Holder) HoldAlone(ctx context.Context, r runs.Run) error {
	return h.take(ctx, r, func(old []byte) error { return h.alone(ctx, old) })
}

// Alone returns the same error as [Holder.HoldAlone], but does not take the lease. A caller works alone if it
// first reads the run, then calls Alone, and then writes the run only if it has not changed: every process
// takes the lease before it writes.
func (h *Holder) Alone(ctx context.Context, r runs.Run) error {
	rec, err := h.Ledger.Records.Get(ctx, h.key(r.Key()))
	if err != nil {
		return err
	}
	return h.alone(ctx, rec.Value)
}

// alone returns an error if the value found, a lease, shows that another process with the same message may be
// alive.
func (h *Holder) alone(ctx context.Context, found []byte) error {
	if len(found) == 0 || bytes.Equal(found, h.lease) {
		return nil
	}
	l, err := decode[Lease](pipeline.Record{Key: h.key(h.Message.Run()), Value: found})
	if err != nil {
		return err
	}
	if l.Message.ID == h.Message.ID && time.Now().Before(l.HardStop) && !pipeline.HardStop(ctx).IsZero() {
		return &pipeline.BusyError{Until: l.HardStop}
	}
	return nil
}

// take takes the lease. If free returns an error for the lease that exists now, take returns this error
// instead.
func (h *Holder) take(ctx context.Context, r runs.Run, free func(old []byte) error) error {
	end := pipeline.HardStop(ctx)
	if end.IsZero() {
		end = time.Now().Add(unlimited)
	}
	lease := pipeline.Encode(Lease{Message: h.Message, HardStop: end.UTC(), Build: h.Ledger.Build})
	refused := false
	_, err := h.Ledger.Change(ctx, h.key(r.Key()), func(old []byte) ([]byte, error) {
		err := free(old)
		refused = err != nil
		return lease, err
	})
	if !refused {
		h.lease = lease // perhaps taken, if there is an error
	}
	return err
}

// HandOver records that this process has ended its work on the run, and that another process must continue it.
func (h *Holder) HandOver(ctx context.Context, r runs.Run) error {
	lease := pipeline.Encode(Lease{Message: h.Message, HardStop: time.Now().UTC()})
	_, err := h.Ledger.Change(ctx, h.key(r.Key()), func([]byte) ([]byte, error) { return lease, nil })
	h.lease = lease
	return err
}

// LetGo releases the lease that this process has taken, because the message waits now and nobody works on it.
// If another process has got the same message in the meantime, that process has its own lease.
func (h *Holder) LetGo(ctx context.Context) error {
	if h.lease == nil {
		return nil
	}
	rec, err := h.Ledger.Records.Get(ctx, h.key(h.Message.Run()))
	if err != nil || !bytes.Equal(rec.Value, h.lease) {
		return err
	}
	return h.giveBack(ctx, rec)
}

// Release releases the lease of a run, if it was taken for this message.
func (h *Holder) Release(ctx context.Context, run string) error {
	rec, err := h.Ledger.Records.Get(ctx, h.key(run))
	if err != nil {
		return err
	}
	l, err := decode[Lease](rec)
	if err != nil || l == nil || l.Message.ID != h.Message.ID {
		return err
	}
	return h.giveBack(ctx, rec)
}

func (h *Holder) giveBack(ctx context.Context, rec pipeline.Record) error {
	err := h.Ledger.Records.Delete(ctx, rec.Key, rec.Version)
	if errors.Is(err, pipeline.ErrConflict) {
		err = nil // it belongs to somebody else now, or is gone
	}
	return err
}

// Leases returns all leases, including those of dead processes.
func (ld Ledger) Leases(ctx context.Context) ([]Lease, error) {
	return List[Lease](ctx, ld, leases)
}
