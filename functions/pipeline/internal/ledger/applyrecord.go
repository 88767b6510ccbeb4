package ledger

import (
	"bytes"
	"context"
	"crypto/rand"
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

// An ApplyRecord is written before the first change of an apply, and completed with its outcome. An apply with
// a record is never begun again. One process at a time continues it: each takes the record with a higher fence.
type ApplyRecord struct {
	Nonce string // distinguishes this record from another process's
	Begun time.Time
	// Commit is the commit that was checked out when the apply began.
	Commit string `json:",omitempty"`
	// Base is the commit of the base branch when the apply began. Its encryption block counts until the end of
	// the apply.
	Base string `json:",omitempty"`
	// Lifted are the requirements that somebody overrode, in the decision to begin.
	Lifted *rulings.Ruling `json:",omitempty"`
	// Hooks are the answers of the hooks before the apply.
	Hooks []reasons.Hooked `json:",omitempty"`
	// Fence counts the processes that have worked on the apply. HardStop is when the last of them certainly
	// ends; zero if it has no such time. Rested is set once that process has ended its work and handed over.
	Fence    int       `json:",omitempty"`
	HardStop time.Time `json:",omitzero"`
	Rested   bool      `json:",omitempty"`
	// Build is the ID of the build in which the last process ran; "" if it did not run in a build.
	Build string `json:",omitempty"`
	// Progress is the last recorded progress of the apply. Idle counts the processes since then that made no
	// progress.
	Progress comment.Progress `json:",omitzero"`
	Idle     int              `json:",omitempty"`
	// Counts are the changes that were made by the time the last process handed over.
	Counts counting.Counts `json:",omitzero"`
	// Ended is the outcome that is recorded before the journal is removed and the state is unlocked. While the
	// journal exists, the journal is more precise. Ended is nil before it is recorded, and again once there is
	// an Outcome.
	Ended *jobs.Outcome `json:",omitempty"`
	// Outcome is the outcome of the apply; nil until it is known. The report of the outcome is an artifact. It
	// is part of Outcome only if the artifact could not be written.
	Outcome *jobs.Outcome `json:",omitempty"`
}

// applyRecordKey returns the key of the apply record. Each try (each apply that somebody asked for) has a key
// of its own. A try that was refused has no record.
func applyRecordKey(r runs.Run) string { return fmt.Sprintf("effect/%s/%d", r.Key(), r.Asked.Try) }

// ApplyRecord reads the record of an apply; begun is "" if there is none.
func (ld Ledger) ApplyRecord(ctx context.Context, r runs.Run) (e ApplyRecord, begun pipeline.Version, err error) {
	rec, err := ld.Records.Get(ctx, applyRecordKey(r))
	if err != nil {
		return e, "", err
	}
	have, err := decode[ApplyRecord](rec)
	if have != nil {
		e = *have
	}
	return e, rec.Version, err
}

// Begin writes the apply record. If the write reports an error, the apply is not begun, and Begin deletes the
// record in case it was written. If the deletion fails, too, the next handler of the message may find the
// record, and treats the apply as begun.
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

// A Begun is the record of a begun apply as it was read.
type Begun struct {
	ApplyRecord
	Version pipeline.Version
}

// Busy reports whether another process may still be working on the apply.
func (b Begun) Busy(now time.Time) bool { return !b.Rested && now.Before(b.HardStop) }

// TakeOver takes the record for another process, which certainly ends at stop. If the error wraps
// pipeline.ErrConflict, another process has taken the record, and this one must do nothing.
func (ld Ledger) TakeOver(ctx context.Context, r runs.Run, b Begun, stop time.Time) (Begun, error) {
	b.Nonce, b.HardStop, b.Rested, b.Build = rand.Text(), stop, false, ld.Build
	b.Fence++
	b.Idle++
	return ld.putBegun(ctx, r, b)
}

// RecordHandOver records that the process has ended its work on an unfinished apply. o is the result so far.
func (ld Ledger) RecordHandOver(ctx context.Context, r runs.Run, b Begun, o jobs.Outcome) (Begun, error) {
	b.Rested, b.Counts = true, o.Counts
	b.progress(o.Progress)
	return ld.putBegun(ctx, r, b)
}

// RecordProgress records the progress of an apply that a process works on.
func (ld Ledger) RecordProgress(ctx context.Context, r runs.Run, b Begun, p comment.Progress) (Begun, error) {
	b.progress(p)
	return ld.putBegun(ctx, r, b)
}

func (b *Begun) progress(p comment.Progress) {
	if p.Done > b.Progress.Done {
		b.Idle = 0
	}
	b.Progress = p
}

// EndApply writes the record of an apply that has ended: first with the field Ended, then with the field
// Outcome.
func (ld Ledger) EndApply(ctx context.Context, r runs.Run, b Begun) (Begun, error) {
	return ld.putBegun(ctx, r, b)
}

// putBegun writes the record. If a write reports an error although it was done, putBegun recognizes the value:
// no other process writes this nonce.
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
