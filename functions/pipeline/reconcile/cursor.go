package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// overlap is the time before the last round that each round reads once more, because GitHub lists some entries
// late.
const overlap = 10 * time.Minute

// A cursor is a recorded time. Everything up to this time was read.
type cursor struct {
	key     string
	version pipeline.Version
	since   time.Time // at most pipeline.Memory ago
	fresh   bool      // there was no record
}

func (j *Janitor) cursor(ctx context.Context, key string, now time.Time) (cursor, error) {
	c := cursor{key: key, since: now.Add(-pipeline.Memory), fresh: true}
	rec, err := j.Pipeline.Records.Get(ctx, key)
	if err != nil || rec.Version == "" {
		return c, err
	}
	c.version, c.fresh = rec.Version, false
	t, err := time.Parse(time.RFC3339, string(rec.Value))
	if err != nil {
		return c, fmt.Errorf("read %s: the record is damaged: %w", key, err)
	}
	if t.After(c.since) {
		c.since = t
	}
	return c, nil
}

// moveCursor moves the cursor forward to a time. If another janitor has moved it to a later time, it stays
// there.
func (j *Janitor) moveCursor(ctx context.Context, c cursor, to time.Time) error {
	if to.Before(c.since) {
		to = c.since
	}
	_, err := j.Pipeline.Records.Put(ctx, c.key, []byte(to.UTC().Format(time.RFC3339)), c.version)
	if errors.Is(err, pipeline.ErrConflict) {
		err = nil // another janitor was here
	}
	return err
}
