package ledger

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// An ApplyRecord is the note that an apply was begun, written before anything is changed,
// and how it ended, written after: an apply that was begun is never begun again.
type ApplyRecord struct {
	Nonce string // tells a note of ours from one of another process
	Begun time.Time
	// Outcome is what became of it, nil if nobody knows. Its report is an artifact, or in
	// here if that could not be written.
	Outcome *jobs.Outcome `json:",omitempty"`
}

// ApplyRecordKey names the note. Each try has its own: one that was refused after all has
// left none.
func ApplyRecordKey(r runs.Run) string { return fmt.Sprintf("effect/%s/%d", r.Key(), r.Try) }

// ApplyRecord reads the note of an apply; the version is "" if there is none.
func (ld Ledger) ApplyRecord(ctx context.Context, r runs.Run) (e ApplyRecord, begun pipeline.Version, err error) {
	rec, err := ld.Records.Get(ctx, ApplyRecordKey(r))
	if err == nil && rec.Version != "" {
		if err = json.Unmarshal(rec.Value, &e); err != nil {
			err = fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
		}
	}
	return e, rec.Version, err
}

// Begin notes that an apply begins. If that fails, nothing is begun, and a note that is
// there after all is taken away; should that fail too, whoever handles the message next
// finds it, and believes that the apply was begun.
func (ld Ledger) Begin(ctx context.Context, r runs.Run) (pipeline.Version, error) {
	e := ApplyRecord{Nonce: rand.Text(), Begun: time.Now().UTC()}
	version, err := ld.Records.Put(ctx, ApplyRecordKey(r), pipeline.Encode(e), "")
	if err == nil {
		return version, nil
	}
	have, there, e2 := ld.ApplyRecord(ctx, r)
	if e2 == nil && there != "" && have.Nonce == e.Nonce {
		e2 = ld.Records.Delete(ctx, ApplyRecordKey(r), there)
	}
	return "", errors.Join(err, e2)
}
