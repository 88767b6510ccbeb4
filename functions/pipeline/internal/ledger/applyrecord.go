package ledger

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// An ApplyRecord is written before the first change of an apply, and completed with its outcome
// afterwards: an apply with a record is never begun again. It is gone on with by one process at a time: each
// takes the record with a higher fence.
type ApplyRecord struct {
	Nonce string // distinguishes our record from another process's
	Begun time.Time
	// Commit is the one that is checked out, of the decision to begin.
	Commit string `json:",omitempty"`
	// Base is the commit of the base branch then, whose encryption block holds until the end.
	Base string `json:",omitempty"`
	// Lifted are the requirements that somebody has lifted, of the decision to begin.
	Lifted *rulings.Ruling `json:",omitempty"`
	// Hooks are the answers of the hooks before the apply.
	Hooks []reasons.Hooked `json:",omitempty"`
	// Fence counts the processes that have worked on the apply. HardStop is the certain end of the
	// last of them, zero if it has none; Rested is set once it has ended its work and handed over.
	Fence    int       `json:",omitempty"`
	HardStop time.Time `json:",omitzero"`
	Rested   bool      `json:",omitempty"`
	// Build is the ID of the last process' build, if it was one.
	Build string `json:",omitempty"`
	// Progress is how far the apply was when it was last recorded, and Idle counts the processes that
	// went on since, which did not get on.
	Progress comment.Progress `json:",omitzero"`
	Idle     int              `json:",omitempty"`
	// Counts are the changes by the end of the last process that handed over.
	Counts counting.Counts `json:",omitzero"`
	// Ended is the outcome that is known before the journal is removed and the state is unlocked: the journal, if it is there,
	// knows better. It is nil before that, and once there is an Outcome.
	Ended *jobs.Outcome `json:",omitempty"`
	// Outcome is nil until it is known. Its report is an artifact, or is in here if that could not
	// be written.
	Outcome *jobs.Outcome `json:",omitempty"`
}

// applyRecordKey is the key of the apply record. Each try has its own: one that was refused in the
// end left none.
func applyRecordKey(r runs.Run) string { return fmt.Sprintf("effect/%s/%d", r.Key(), r.Asked.Try) }

// ApplyRecord reads the record of an apply; the version is "" if there is none.
func (ld Ledger) ApplyRecord(ctx context.Context, r runs.Run) (e ApplyRecord, begun pipeline.Version, err error) {
	rec, err := ld.Records.Get(ctx, applyRecordKey(r))
	if err == nil && rec.Version != "" {
		if err = json.Unmarshal(rec.Value, &e); err != nil {
			err = fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
		}
	}
	return e, rec.Version, err
}

// Begin writes the apply record. If that fails nothing is begun, and a record that was written
// nevertheless is deleted; if that fails as well, the next handler of the message finds the record,
// and takes the apply for begun.
func (ld Ledger) Begin(ctx context.Context, r runs.Run, e ApplyRecord) (Begun, error) {
	e.Nonce, e.Begun, e.Fence, e.Build = rand.Text(), time.Now().UTC(), 1, ld.Build
	version, err := ld.Records.Put(ctx, applyRecordKey(r), pipeline.Encode(e), "")
	if err == nil {
		return Begun{e, version}, nil
	}
	have, there, e2 := ld.ApplyRecord(ctx, r)
	if e2 == nil && there != "" && have.Nonce == e.Nonce {
		e2 = ld.Records.Delete(ctx, applyRecordKey(r), there)
	}
	return Begun{}, errors.Join(err, e2)
}

// A Begun is the record of an apply that was begun, as it was read.
type Begun struct {
	ApplyRecord
	Version pipeline.Version
}

// Busy reports whether another process may be working on the apply.
func (b Begun) Busy(now time.Time) bool { return !b.Rested && now.Before(b.HardStop) }

// GoOn takes the record for another process, whose certain end is stop. An error that wraps
// pipeline.ErrConflict is another process' taking: nothing may be done then.
func (ld Ledger) GoOn(ctx context.Context, r runs.Run, b Begun, stop time.Time) (Begun, error) {
	b.Nonce, b.HardStop, b.Rested, b.Build = rand.Text(), stop, false, ld.Build
	b.Fence++
	b.Idle++
	return ld.putBegun(ctx, r, b)
}

// Rest records that the process has ended its work on an apply, which is not at its end: o is how far it
// came.
func (ld Ledger) Rest(ctx context.Context, r runs.Run, b Begun, o jobs.Outcome) (Begun, error) {
	b.Rested, b.Counts = true, o.Counts
	b.far(o.Progress)
	return ld.putBegun(ctx, r, b)
}

// Far records how far an apply is that a process works on.
func (ld Ledger) Far(ctx context.Context, r runs.Run, b Begun, p comment.Progress) (Begun, error) {
	b.far(p)
	return ld.putBegun(ctx, r, b)
}

func (b *Begun) far(p comment.Progress) {
	if p.Done > b.Progress.Done {
		b.Idle = 0
	}
	b.Progress = p
}

// EndApply writes the record with its outcome, or with that before the end, Ended.
func (ld Ledger) EndApply(ctx context.Context, r runs.Run, b Begun) (Begun, error) {
	return ld.putBegun(ctx, r, b)
}

// putBegun writes the record. A write that failed, and was done nevertheless, is found by its value: no other
// process writes our nonce.
func (ld Ledger) putBegun(ctx context.Context, r runs.Run, b Begun) (Begun, error) {
	value := pipeline.Encode(b.ApplyRecord)
	version, err := ld.Records.Put(ctx, applyRecordKey(r), value, b.Version)
	if err == nil {
		b.Version = version
		return b, nil
	}
	if rec, e2 := ld.Records.Get(ctx, applyRecordKey(r)); e2 == nil && bytes.Equal(rec.Value, value) {
		b.Version = rec.Version
		return b, nil
	}
	return b, fmt.Errorf("go on with the apply of %s: %w", r.Project, err)
}
