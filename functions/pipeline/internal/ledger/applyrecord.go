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
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ratelimits"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// An ApplyRecord is written before the first change of an apply, and completed with the apply's result. An
// apply with such a record is never begun once more. Only one process at a time continues it: each sets a
// higher fence in the record.
type ApplyRecord struct {
	Nonce string // distinguishes this record from another process's
	Begun time.Time
	// Commit is the commit that was checked out when the apply began.
	Commit string `json:",omitempty"`
	// Base is the base commit with which the apply began. Its encryption block is used until the end of the
	// apply.
	Base string `json:",omitempty"`
	// Lifted are the requirements that were overridden when the gate allowed the apply.
	Lifted *rulings.Ruling `json:",omitempty"`
	// Approved are the users whose approvals counted then.
	Approved []string `json:",omitempty"`
	// Audited is the audit record that the apply was allowed.
	Audited runs.Audited `json:",omitzero"`
	// Hooks are the answers of the hooks that were called before the apply.
	Hooks []reasons.Hooked `json:",omitempty"`
	// Fence counts the processes that have worked on the apply. HardStop is the time at which the latest of
	// them has certainly ended; zero if there is no such time. Rested is set if that process has ended its work
	// and passed the apply on.
	Fence    int       `json:",omitempty"`
	HardStop time.Time `json:",omitzero"`
	Rested   bool      `json:",omitempty"`
	// Build is the ID of the build in which the latest process ran; "" if it did not run in a build.
	Build string `json:",omitempty"`
	// Progress is the latest recorded progress of the apply. Idle is the number of processes since then that
	// have made no progress.
	Progress comment.Progress `json:",omitzero"`
	Idle     int              `json:",omitempty"`
	// UnderWay are changes that the present process has begun and not ended, and More is the number of others:
	// see [comment.Ongoing]. Ends is about when the apply ends.
	UnderWay []comment.ChangeUnderWay `json:",omitempty"`
	More     int                      `json:",omitempty"`
	Ends     time.Time                `json:",omitzero"`
	// Counts are the changes that were made when the latest process passed the apply on.
	Counts counting.Counts `json:",omitzero"`
	// Ended is the result, recorded before the journal is deleted and the state is unlocked. As long as the
	// journal exists, the journal is more precise. Ended is nil before that, and after Outcome is set.
	Ended *jobs.Outcome `json:",omitempty"`
	// Outcome is the result of the apply; nil until it is known. Its report is an artifact. Outcome contains
	// the report only if the artifact could not be written.
	Outcome *jobs.Outcome `json:",omitempty"`
}

// ApplyDir returns the directory of the keys of all records of a pull request's applies.
func ApplyDir(p pipeline.Pull) string { return "effect/" + p.Runs() }

// applyRecordKey returns the key of an apply's record. Each try (an apply that somebody has requested) has its
// own key. A try that was refused has no record.
func applyRecordKey(r runs.Run) string { return fmt.Sprintf("effect/%s/%d", r.Key(), r.Asked.Try) }

// ApplyRecord reads the record of an apply. The version begun is "" if there is no record.
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

// Begin writes the record of an apply. If that returns an error, the apply is not begun, and Begin deletes the
// record, in case it was written. If that fails, too, the next handler of the message may find the record, and
// treats the apply as begun.
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

// A Begun is an ApplyRecord together with the version of the record that was read.
type Begun struct {
	ApplyRecord
	Version pipeline.Version
}

// Busy reports whether another process may still be working on the apply.
func (b Begun) Busy(now time.Time) bool { return !b.Rested && now.Before(b.HardStop) }

// TakeOver records that another process works on the apply. It has certainly ended at the time stop. If the
// error wraps pipeline.ErrConflict, yet another process has taken the record over, and this one must do
// nothing.
func (ld Ledger) TakeOver(ctx context.Context, r runs.Run, b Begun, stop time.Time) (Begun, error) {
	b.Nonce, b.HardStop, b.Rested, b.Build = rand.Text(), stop, false, ld.Build
	b.UnderWay, b.More, b.Ends = nil, 0, time.Time{}
	b.Fence++
	b.Idle++
	return ld.putBegun(ctx, r, b)
}

// RecordHandOver records that this process has ended its work on an apply that is not finished. o is the result
// so far.
func (ld Ledger) RecordHandOver(ctx context.Context, r runs.Run, b Begun, o jobs.Outcome) (Begun, error) {
	b.Rested, b.Counts = true, o.Counts
	b.progress(comment.Ongoing{Progress: o.Progress})
	return ld.putBegun(ctx, r, b)
}

// RecordProgress records the progress of an apply that is in progress.
func (ld Ledger) RecordProgress(ctx context.Context, r runs.Run, b Begun, o comment.Ongoing) (Begun, error) {
	b.progress(o)
	return ld.putBegun(ctx, r, b)
}

func (b *Begun) progress(o comment.Ongoing) {
	if o.Done > b.Progress.Done {
		b.Idle = 0
	}
	b.Progress, b.UnderWay, b.More, b.Ends = o.Progress, o.UnderWay, o.More, o.Ends
}

// Ongoing returns the progress of a run's apply or plan, as its process has last recorded it. It is zero if the run is
// not being applied or planned, or if that has only just begun: most applies and plans end so soon that nobody has to
// read of their progress.
func (ld Ledger) Ongoing(ctx context.Context, r runs.Run, now time.Time) (o comment.Ongoing, err error) {
	switch r.Standing() {
	case comment.Planning:
		return ld.ongoingPlan(ctx, r, now)
	case comment.Applying:
	default:
		return o, nil
	}
	e, begun, err := ld.ApplyRecord(ctx, r)
	if err != nil || begun == "" || now.Sub(e.Begun) < ratelimits.FirstUpdate {
		return o, err
	}
	o = comment.Ongoing{Progress: e.Progress, Began: e.Begun, At: now}
	if e.HardStop.IsZero() || now.Before(e.HardStop) { // after that, no process works on it
		o.UnderWay, o.More, o.Ends = e.UnderWay, e.More, e.Ends
	}
	return o, nil
}

// EndApply writes the record of an apply that has ended. It is called twice: when the field Ended is set, and
// when the field Outcome is set.
func (ld Ledger) EndApply(ctx context.Context, r runs.Run, b Begun) (Begun, error) {
	b.UnderWay, b.More, b.Ends = nil, 0, time.Time{}
	return ld.putBegun(ctx, r, b)
}

// putBegun writes the record. A write may succeed although it returns an error. putBegun recognizes that by the
// record's nonce, which no other process writes.
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
