package operation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/journal"
	"github.com/lockstep-iac/lockstep/statebackend/leasing"
)

// takeover returns a warning about a dead run whose lock this process has taken over; none if there was no such
// run.
func takeover(h *leasing.Holding) diags.Diagnostics {
	run := h.Predecessor()
	if run == "" {
		return nil
	}
	before := h.Before
	return diags.Warningf(nil, "Lockstep took over the lock of a run that has ended",
		"The run %s had the state lock %s. Its lease ended at %s, and the run did not renew it.", run, before.Lock, before.End().Add(-statebackend.Grace).Format(time.RFC3339))
}

// newRun returns a unique ID for the records of this process in a journal. The ID begins with that of the
// lease. So other processes can see whether the writer of a record is still running.
func (o *Operation) newRun() string {
	h := o.State.Holding()
	if h == nil {
		return statebackend.NewLockID()
	}
	o.journals++
	return fmt.Sprintf("%s%d.%d", recordsOf(h.Lease()), h.Lease().Fence, o.journals)
}

// recordsOf returns how the IDs of all records begin that the run with the lease l writes.
func recordsOf(l statebackend.Lease) string { return l.Run + "." }

// A Living is a run in another process that is changing the state now.
type Living struct {
	Run   string
	Who   string // user@host
	Since time.Time
	End   time.Time // of its lease; it may be renewed
}

// has reports whether this run has written the record of the call open.
func (l *Living) has(open journaling.Open) bool {
	return l != nil && strings.HasPrefix(open.ID, l.Run+".")
}

// livingIn returns the run that has locked the workspace, if its lease has not ended. It returns nil if there
// is none, or if the backend does not know.
func livingIn(ctx context.Context, w statebackend.Workspace) *Living {
	held, err := w.Locks(ctx)
	if err != nil {
		return nil
	}
	for _, h := range held {
		if h.Lease != nil && h.Lease.Complete() && !h.Lease.Over(time.Now()) {
			return &Living{Run: h.Lease.Run, Who: h.Info.Who, Since: h.Info.Created, End: h.Lease.End()}
		}
	}
	return nil
}

// stopWithLease makes providers stop when the lease of the lock ends. They are first asked to end their calls,
// and then killed, before another run can begin. guard does both. The journal has a record of each call, and a
// record of its result if the call ended in time.
func (o *Operation) stopWithLease(guard func(context.Context, time.Duration) func()) (release func()) {
	leased, end := o.State.While(context.Background())
	unguard := guard(leased, leasing.Margin)
	return func() { unguard(); end(nil) }
}

// guarded is the writer of the journal of an apply. Another process may become the writer while the apply is
// still running. Then guarded still records what has already happened, but no new actions: see
// [journal.Writer.WriteLate].
//
// The first record may itself make this process the writer: see [journal.Continue]. If the store refuses this
// record, nothing was begun.
type guarded struct {
	*journal.Writer
	log statebackend.Log

	mu      sync.Mutex
	begun   bool       // this process has written to the journal
	denied  error      // the rights do not allow a journal: the apply continues without one
	pending []*pending // in the order of appending
	failed  error      // something that has happened is in no journal, or no action is allowed any more
}

// pending are records that may be stored or not, because the answer to a request was lost.
type pending struct{ lines [][]byte }

// Append implements journaling.Writer.
func (g *guarded) Append(durable bool, lines ...[]byte) func(context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.denied != nil {
		return func(context.Context) error { return nil }
	}
	p := &pending{lines}
	g.pending = append(g.pending, p)
	stored := g.Writer.Append(durable, lines...)
	return func(ctx context.Context) error {
		err := stored(ctx)
		g.mu.Lock()
		defer g.mu.Unlock()
		switch {
		case err == nil:
			g.begun = true
		case !g.begun && errors.Is(err, statebackend.ErrDenied):
			g.denied, err = err, nil
		case !g.begun && errors.As(err, new(*statebackend.TakenError)):
			err = othersApply(g.log)
			g.failed = err
		case !g.begun && !errors.As(err, new(*journal.FencedError)):
			err = diags.FromError("Error opening the journal", err)
			g.failed = err
		case errors.As(err, new(*journal.FencedError)):
			if late := g.writeLate(ctx); late != nil || !slices.ContainsFunc(lines, journaling.Announces) {
				return late
			}
			return err // the announced action must not happen
		default:
			g.failed = err
		}
		g.pending = slices.DeleteFunc(g.pending, func(x *pending) bool { return x == p })
		return err
	}
}

// writeLate records what has already happened, in its order, after another process has become the writer of the
// journal. The caller has locked g.mu.
func (g *guarded) writeLate(ctx context.Context) error {
	var lines [][]byte
	for _, p := range g.pending {
		for _, line := range p.lines {
			if line = journaling.Happened(line); line != nil {
				lines = append(lines, line)
			}
		}
	}
	g.pending = nil
	if len(lines) == 0 {
		return nil
	}
	g.failed = errors.Join(g.failed, g.WriteLate(context.WithoutCancel(ctx), lines...))
	return g.failed
}

// complete reports whether everything that happened is recorded in the journal.
func (g *guarded) complete() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.failed == nil && g.denied == nil
}

// result reports whether this process has written to the journal. If it has not, one of the two errors is the
// reason:
//   - denied: the rights do not allow a journal. The apply continues without one.
//   - failed: another error. The apply must not begin anything.
func (g *guarded) result() (begun bool, denied, failed error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.begun, g.denied, g.failed
}

// deposed returns the message for an apply that has lost its lock while it was running. Such an apply does not
// write the state. That is no loss, because everything is in the journal.
func deposed(err error, place string) diags.Diagnostics {
	return diags.Errorf(nil, "The state lock was lost",
		"%s. Lockstep finished the actions that had started, and started no others. The state was not written. The results of this apply are in the journal %s. Wait until the run that now has the lock has ended, then run \"lockstep plan\": the plan brings these results into the state.", err, place)
}
