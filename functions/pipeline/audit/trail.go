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

// maxRivals is how many records of others an append tolerates that are written at the same moment.
const maxRivals = 20

// maxAge is the age of a record from which on its successor may have expired. No bucket keeps records for less than a day.
const maxAge = 24 * time.Hour

// Append adds a record to the chain of a run's state, and returns its place. known is a record of the chain that
// the caller knows, best the last one; its zero value is none. With the last record, Append takes one request if that
// record is younger than a day. Several processes may append to one chain.
//
// An ApplyEnded is written once for each apply: if the chain has one already, after known, Append returns its place.
// So a process can repeat what a dead one has begun. The same holds for a record about a command, if it is the last
// one.
func (t Trail) Append(ctx context.Context, r runs.Run, known runs.Audited, rec Record) (runs.Audited, error) {
	if t.Chains == nil {
		return runs.Audited{}, nil
	}
	rec.Chain, rec.At = ChainOf(r), time.Now().UTC().Truncate(time.Second)
	if known.Chain != rec.Chain {
		known = runs.Audited{Chain: rec.Chain}
	}
	if rec.At.Sub(known.At) > maxAge {
		// Records after known may have expired, and their numbers are free again. So the chain's last record is looked for.
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

// Command records a decision about a person's command, which m has told of: one of the events that no apply writes.
// why is the reason that the record gives; "" for none.
func (t Trail) Command(ctx context.Context, m pipeline.Message, r runs.Run, event Event, why string) error {
	rec := Of(r, event, m.Actor)
	rec.For, rec.Reasons = m.ID, why
	_, err := t.Append(ctx, r, runs.Audited{}, rec)
	return err
}

// last returns the place of the last record of a chain from rec.N on; its zero value if there is none, or if it has
// expired. If one of these records is rec itself, which is possible if an answer was lost or a process has died, last
// returns its place, and written is true. data are the bytes of rec; nil if it has no number yet.
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
