package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// A silence says that a repository had no open pull request at the last look, and that no pull request has
// changed since. Such a repository costs one conditional request.
type silence struct {
	last    pipeline.Record // the record of the last look, with the last change that it knew
	changed time.Time       // the last change by now
}

func (s silence) still() bool {
	return s.last.Version != "" && string(s.last.Value) == stamp(s.changed)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func (j *Janitor) quiet(ctx context.Context, p place) (s silence, err error) {
	if s.last, err = j.Pipeline.Records.Get(ctx, fmt.Sprintf("repo/%d/quiet", p.repo.ID)); err != nil {
		return s, err
	}
	s.changed, err = j.App.LastChange(ctx, p.installation, p.repo)
	return s, err
}

// keepQuiet records that a look has found the repository idle. The record has the last change that was known
// before the look.
func (j *Janitor) keepQuiet(ctx context.Context, s silence, open int, now time.Time) error {
	if !idle(open, s.changed, now) || s.still() {
		return nil
	}
	_, err := j.Pipeline.Records.Put(ctx, s.last.Key, []byte(stamp(s.changed)), s.last.Version)
	if errors.Is(err, pipeline.ErrConflict) {
		err = nil // another janitor has looked
	}
	return err
}
