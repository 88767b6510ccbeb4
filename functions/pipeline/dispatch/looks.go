package dispatch

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ratelimits"
)

// told has the pull request looked at once for all that GitHub tells of within some seconds, and less often where it goes on: each look
// reads all facts again, whatever it was that was told. Nothing is lost: a message ends only with a look that begins after it.
func (t *task) told(ctx context.Context) error {
	now := time.Now().UTC()
	l, err := t.looks(ctx, t.message.Pull.Number, func(l *ratelimits.Looks) {})
	switch {
	case err != nil:
		return err
	case l.Seen(t.message.At, t.every):
		return nil
	case l.Due.IsZero():
		if l, err = t.due(ctx, now); err != nil {
			return err
		}
	}
	if now.Before(l.Due) {
		return &pipeline.BusyError{Until: l.Due, Why: "the pull request was looked at just now"}
	}
	return t.lookAt(ctx, now)
}

// due takes the next look at the pull request, and in the repository.
func (t *task) due(ctx context.Context, now time.Time) (ratelimits.Looks, error) {
	var at time.Time
	_, err := t.looks(ctx, 0, func(l *ratelimits.Looks) { *l, at = l.Next(now, t.every, ratelimits.OfRepository) })
	if err != nil {
		return ratelimits.Looks{}, err
	}
	return t.looks(ctx, t.message.Pull.Number, func(l *ratelimits.Looks) {
		var own time.Time
		*l, own = l.Next(now, t.every, ratelimits.OfPull)
		l.Due = l.Began.Add(t.every)
		for _, x := range []time.Time{own, at} {
			if x.After(l.Due) {
				l.Due = x
			}
		}
	})
}

// lookAt sends the message of the look, which comes after all that waits for the pull request.
func (t *task) lookAt(ctx context.Context, now time.Time) error {
	m := pipeline.Message{Kind: pipeline.SyncComments}
	if err := pipeline.Send(ctx, t.queue, t.message.Pull, m, t.message.ID); err != nil {
		return err
	}
	_, err := t.looks(ctx, t.message.Pull.Number, func(l *ratelimits.Looks) { l.Began, l.Due = now, time.Time{} })
	return err
}

// looks changes the record of the looks at a pull request, 0 for all of the repository.
func (t *task) looks(ctx context.Context, number int, change func(*ratelimits.Looks)) (l ratelimits.Looks, err error) {
	key := fmt.Sprintf("pace/%d/%d", t.message.Pull.Repo.ID, number)
	_, err = t.ledger.Change(ctx, key, func(old []byte) ([]byte, error) {
		l = ratelimits.Looks{}
		if old != nil {
			if err := json.Unmarshal(old, &l); err != nil {
				return nil, fmt.Errorf("the record is damaged: %w", err)
			}
		}
		was := l
		if change(&l); l == was {
			return nil, ledger.ErrAsIs
		}
		return pipeline.Encode(l), nil
	})
	return l, err
}
