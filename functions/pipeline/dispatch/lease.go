package dispatch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A Lease says that a process works on a message, and until when it can be alive: a
// function is ended by then. Whoever finds it later knows that nobody does.
type Lease struct {
	Message  pipeline.Message
	HardStop time.Time
}

// unlimited is how long a process may work that has no end set.
const unlimited = 6 * time.Hour

// leases is the directory of all leases.
const leases = "lease"

func leaseKey(run string) string { return leases + "/" + url.PathEscape(run) }

// hold takes the lease of a run, from whoever had it before: messages about one run are
// handled one after the other, so that one is dead, or is on the way to find out that
// the run was moved on without it.
func (t *task) hold(ctx context.Context, r runs.Run) error {
	end, ok := ctx.Deadline()
	if !ok {
		end = time.Now().Add(unlimited)
	}
	lease := pipeline.Encode(Lease{Message: t.message, HardStop: end.UTC()})
	_, err := t.change(ctx, leaseKey(r.Key()), func([]byte) ([]byte, error) { return lease, nil })
	t.lease = lease
	return err
}

// letGo gives the lease back that this process took, since the message waits now and is
// worked on by nobody. A process that has the same message since then has its own lease.
func (t *task) letGo(ctx context.Context) error {
	if t.lease == nil {
		return nil
	}
	rec, err := t.Records.Get(ctx, leaseKey(t.message.Run()))
	if err != nil || !bytes.Equal(rec.Value, t.lease) {
		return err
	}
	return t.giveBack(ctx, rec)
}

// release gives the lease of a run back, if it is this message's.
func (t *task) release(ctx context.Context, run string) error {
	rec, err := t.Records.Get(ctx, leaseKey(run))
	if err != nil || rec.Version == "" {
		return err
	}
	var l Lease
	if err := json.Unmarshal(rec.Value, &l); err != nil {
		return fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
	}
	if l.Message.ID != t.message.ID {
		return nil
	}
	return t.giveBack(ctx, rec)
}

func (t *task) giveBack(ctx context.Context, rec pipeline.Record) error {
	err := t.Records.Delete(ctx, rec.Key, rec.Version)
	if errors.Is(err, pipeline.ErrConflict) {
		err = nil // somebody else's now, or gone
	}
	return err
}

// Leases returns the leases that are held, by dead processes too.
func (p *Pipeline) Leases(ctx context.Context) ([]Lease, error) {
	list, err := p.Records.List(ctx, leases)
	if err != nil {
		return nil, fmt.Errorf("list leases: %w", err)
	}
	var out []Lease
	for _, rec := range list {
		var l Lease
		if err := json.Unmarshal(rec.Value, &l); err != nil {
			return nil, fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
		}
		out = append(out, l)
	}
	return out, nil
}
