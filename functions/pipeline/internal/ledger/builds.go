package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Builds is the record of the builds that an apply is handed to, one after the other. It is written before each is
// started.
type Builds struct {
	Number int       // of the last build, from 1; 0 if there was none
	ID     string    `json:",omitempty"` // "" while it is not known that it was started
	Begun  time.Time // when it was to be started
	// Over is how it ended, "" while it may be at work.
	Over string `json:",omitempty"`

	version pipeline.Version
}

// A BuildBook keeps the records of builds.
type BuildBook struct{ Ledger }

// buildsKey is the key of the record for a try of a run.
func buildsKey(run string, try int) string { return fmt.Sprintf("build/%s/%d", run, try) }

// Of reads the record about a try of a run.
func (ld BuildBook) Of(ctx context.Context, run string, try int) (b Builds, err error) {
	rec, err := ld.Records.Get(ctx, buildsKey(run, try))
	if err == nil && rec.Version != "" {
		if err = json.Unmarshal(rec.Value, &b); err != nil {
			err = fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
		}
	}
	b.version = rec.Version
	return b, err
}

// Write writes the record as it was read and changed since.
func (ld BuildBook) Write(ctx context.Context, run string, try int, b Builds) (Builds, error) {
	version, err := ld.Records.Put(ctx, buildsKey(run, try), pipeline.Encode(b), b.version)
	if err != nil {
		return b, fmt.Errorf("write the builds of %s: %w", run, err)
	}
	b.version = version
	return b, nil
}

// AtWork returns the ID of the build that holds the lease of a message's run; "" if none does.
func (ld BuildBook) AtWork(ctx context.Context, m pipeline.Message) (string, error) {
	rec, err := ld.Records.Get(ctx, leaseKey(m.Run()))
	if err != nil || rec.Version == "" {
		return "", err
	}
	var l Lease
	if err := json.Unmarshal(rec.Value, &l); err != nil {
		return "", fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
	}
	if l.Message.ID != m.ID || !l.HardStop.After(time.Now()) {
		return "", nil
	}
	return l.Build, nil
}

// Over records that a build has certainly ended: nobody waits for the end of its time. Its lease is gone afterwards, and the
// apply that it has begun is another process'.
func (ld BuildBook) Over(ctx context.Context, m pipeline.Message, r runs.Run, id string) error {
	e, version, err := ld.ApplyRecord(ctx, r)
	if err != nil {
		return err
	}
	if b := (Begun{e, version}); version != "" && e.Build == id && e.Outcome == nil && b.Busy(time.Now()) {
		b.HardStop = time.Now().UTC()
		if _, err := ld.putBegun(ctx, r, b); err != nil {
			return err
		}
	}
	if at, err := ld.AtWork(ctx, m); err != nil || at != id {
		return err
	}
	return (&Holder{Ledger: ld.Ledger, Message: m}).Release(ctx, m.Run())
}
