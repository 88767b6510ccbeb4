package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Builds is the record of the builds that have worked on an apply, one after another. It is written before a
// build is started.
type Builds struct {
	Number int       // the number of the last build, from 1; 0 for none
	ID     string    `json:",omitempty"` // "" while it is not known whether the build was started
	Begun  time.Time // when the build was to be started
	Image  string    `json:",omitempty"` // of all builds of the apply; "" for the deployment's
	// Over says how the build has ended; "" if it may still be running.
	Over string `json:",omitempty"`

	version pipeline.Version
}

// A BuildBook reads and writes the records of builds.
type BuildBook struct{ Ledger }

// buildsKey returns the key of the record for a try of a run.
func buildsKey(run string, try int) string { return fmt.Sprintf("build/%s/%d", run, try) }

// Of reads the record about one apply. try is the number of this apply among those of the run.
func (ld BuildBook) Of(ctx context.Context, run string, try int) (b Builds, err error) {
	rec, err := ld.Records.Get(ctx, buildsKey(run, try))
	if err != nil {
		return b, err
	}
	have, err := decode[Builds](rec)
	if have != nil {
		b = *have
	}
	b.version = rec.Version
	return b, err
}

// Write writes the record, unless somebody else has changed it since it was read.
func (ld BuildBook) Write(ctx context.Context, run string, try int, b Builds) (Builds, error) {
	version, err := ld.Records.Put(ctx, buildsKey(run, try), pipeline.Encode(b), b.version)
	if err != nil {
		return b, fmt.Errorf("write the builds of %s: %w", run, err)
	}
	b.version = version
	return b, nil
}

// AtWork returns the ID of the build that has the lease of the message's run; "" if there is none.
func (ld BuildBook) AtWork(ctx context.Context, m pipeline.Message) (string, error) {
	l, err := get[Lease](ctx, ld.Ledger, leaseKey(m.Run()))
	if err != nil || l == nil {
		return "", err
	}
	if l.Message.ID != m.ID || !l.HardStop.After(time.Now()) {
		return "", nil
	}
	return l.Build, nil
}

// Over records that a build has certainly ended, and removes its lease. So another process can continue the
// apply at once. Otherwise it would have to wait until the end of the build's time limit.
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
