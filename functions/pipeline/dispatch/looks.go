package dispatch

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ratelimits"
)

// lookSoon sends a message, whose handler will read the pull request once more. All events that GitHub reports
// within some seconds share one such message. If events keep coming, the messages become rarer. The handler
// reads all facts, whatever the event was. No event is lost: the message of an event waits until the pull
// request is read after the event.
func (t *task) lookSoon(ctx context.Context) error {
	now := time.Now().UTC()
	l, err := t.looks(ctx, t.message.Pull.Number, func(l *ratelimits.Looks) {})
	switch {
	case err != nil:
		return err
	case l.Seen(t.message.At, t.every):
		return nil
	case l.Due.IsZero():
		if l, err = t.nextLook(ctx, now); err != nil {
			return err
		}
	}
	if now.Before(l.Due) {
		return &pipeline.BusyError{Until: l.Due, Why: "the pull request was looked at just now"}
	}
	return t.lookAt(ctx, now)
}

// nextLook reserves the next time at which the pull request is read. It keeps the limits for one pull request
// and for one repository.
func (t *task) nextLook(ctx context.Context, now time.Time) (ratelimits.Looks, error) {
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

// lookAt sends a message, whose handler will read the pull request. The queue delivers it after all other
// waiting messages of the pull request.
func (t *task) lookAt(ctx context.Context, now time.Time) error {
	m := pipeline.Message{Kind: pipeline.SyncComments}
	if err := pipeline.Send(ctx, t.queue, t.message.Pull, m, t.message.ID); err != nil {
		return err
	}
	_, err := t.looks(ctx, t.message.Pull.Number, func(l *ratelimits.Looks) { l.Began, l.Due = now, time.Time{} })
	return err
}

// looks changes the record that says when a pull request was read. number 0 means the record for the whole
// repository.
func (t *task) looks(ctx context.Context, number int, change func(*ratelimits.Looks)) (l ratelimits.Looks, err error) {
	key := fmt.Sprintf("pace/%d/%d", t.message.Pull.Repo.ID, number)
	err = ledger.Edit(ctx, t.ledger, key, func(had *ratelimits.Looks) *ratelimits.Looks {
		was := *cmp.Or(had, &ratelimits.Looks{})
		l = was
		if change(&l); l == was {
			return nil
		}
		return &l
	})
	return l, err
}
