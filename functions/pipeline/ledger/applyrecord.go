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

// An ApplyRecord is written before the first change of an apply, and completed with its outcome
// afterwards: an apply with a record is never begun again.
type ApplyRecord struct {
	Nonce string // distinguishes our record from another process's
	Begun time.Time
	// Outcome is nil until it is known. Its report is an artifact, or is in here if that could not
	// be written.
	Outcome *jobs.Outcome `json:",omitempty"`
}

// ApplyRecordKey is the key of the apply record. Each try has its own: one that was refused in the
// end left none.
func ApplyRecordKey(r runs.Run) string { return fmt.Sprintf("effect/%s/%d", r.Key(), r.Try) }

// ApplyRecord reads the record of an apply; the version is "" if there is none.
func (ld Ledger) ApplyRecord(ctx context.Context, r runs.Run) (e ApplyRecord, begun pipeline.Version, err error) {
	rec, err := ld.Records.Get(ctx, ApplyRecordKey(r))
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
