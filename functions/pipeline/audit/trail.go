package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A Trail appends records to chains.
type Trail struct {
	// Chains stores the records. If it is nil, nothing is recorded.
	Chains pipeline.Chains
}

// maxRivals limits the records that other processes write while Append tries to write its own. After
// that many, Append gives up.
const maxRivals = 20

// maxAge is an age of records. The successor of an older record may have expired. No bucket keeps records for less than a
// day.
const maxAge = 24 * time.Hour

// Append adds a record to the chain of a run's state, and returns its place. known is a record of the chain that the
// caller knows, if possible the last one; its zero value means none. If known is the last record, and younger than a
// day, Append needs only one request. Several processes may append to one chain.
//
// An ApplyEnded is written once for each apply. If the chain already has that record, after known, Append returns its
// place. So a process can repeat the work of a process that died. A record about a command is also written only once,
// if it is the last record of the chain.
func (t Trail) Append(ctx context.Context, r runs.Run, known runs.Audited, rec Record) (runs.Audited, error) {
	if t.Chains == nil {
		return runs.Audited{}, nil
	}
	rec.Chain, rec.At = ChainOf(r), time.Now().UTC().Truncate(time.Second)
	if known.Chain != rec.Chain {
		known = runs.Audited{Chain: rec.Chain}
	}
	if rec.At.Sub(known.At) > maxAge {
		// Records after known may have expired, and their numbers are free again. So Append searches for the chain's last
		// record.
		rec.N = known.N
		last, written, err := t.last(ctx, rec, nil)
		switch {
		case err != nil:
			return runs.Audited{}, fmt.Errorf("read the last audit record: %w", err)
		case written:
			return last, nil
		case last.N > 0:
			known = last
		}
	}
	for range maxRivals {
		rec.N, rec.Prev, rec.PrevAt = known.N+1, known.Hash, known.At
		data := encode(rec)
		err := t.Chains.Add(ctx, rec.Chain, rec.N, data)
		if err == nil {
			return placeOf(rec, data), nil
		}
		if !errors.Is(err, pipeline.ErrConflict) {
			return runs.Audited{}, fmt.Errorf("write the audit record: %w", err)
		}
		var written bool
		if known, written, err = t.last(ctx, rec, data); err != nil {
			return runs.Audited{}, fmt.Errorf("read the last audit record: %w", err)
		}
		if written {
			return known, nil
		}
	}
	return runs.Audited{}, fmt.Errorf("write the audit record: others have written %d records at the same moment", maxRivals)
}

// Command records a decision about a person's command, with an event that is not part of an apply. m is the message
// with the command. why is the reason for the record; "" for none.
func (t Trail) Command(ctx context.Context, m pipeline.Message, r runs.Run, event Event, why string) error {
	rec := Of(r, event, m.Actor)
	rec.For, rec.Reasons = m.ID, why
	_, err := t.Append(ctx, r, runs.Audited{}, rec)
	return err
}

// last returns the place of the last record of a chain from rec.N on; its zero value if there is none, or if it has
// expired. One of these records may be rec itself, because a store's answer was lost or a process has died. last then
// returns the place of rec, and written is true. data are the bytes of rec; nil if rec has no number yet.
func (t Trail) last(ctx context.Context, rec Record, data []byte) (at runs.Audited, written bool, err error) {
	end, err := t.Chains.Last(ctx, rec.Chain, rec.N)
	if err != nil {
		return at, false, err
	}
	from := max(end, 1)
	if rec.Event == ApplyEnded {
		from = max(rec.N, 1)
	}
	for n := from; n <= end; n++ {
		have, err := t.Chains.Link(ctx, rec.Chain, n)
		if errors.Is(err, pipeline.ErrNoLink) {
			continue // it has expired
		}
		if err != nil {
			return at, false, err
		}
		other, err := Decode(have)
		if err != nil {
			return at, false, fmt.Errorf("record %d is damaged: %w", n, err)
		}
		at = placeOf(other, have)
		again := other.Event == rec.Event && other.Run == rec.Run && other.For == rec.For
		if bytes.Equal(have, data) || again && (rec.Event == ApplyEnded || rec.For != "") {
			return at, true, nil
		}
	}
	return at, false, nil
}

// placeOf returns the place of a record in its chain. data are its bytes.
func placeOf(r Record, data []byte) runs.Audited {
	return runs.Audited{Chain: r.Chain, N: r.N, Hash: runs.HashOf(data), At: r.At}
}
