package localstore

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/lockstep-iac/lockstep/engine/walk"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// A Worker handles messages.
type Worker struct {
	// Handle carries out the task of a message. After an error, another attempt may help. The context of Handle
	// ends with the context of the worker. It also ends when another process has found this process frozen and
	// has taken over the message.
	Handle func(context.Context, pipeline.Message) error
	// Abandon is called for a message after Handle has failed in all attempts that its queue allows. Abandon is
	// called again until it succeeds.
	Abandon func(ctx context.Context, m pipeline.Message, reason string) error
	// Taken is called before the first attempt at a message; it may be nil.
	Taken func(pipeline.Message)
	// Limit is how many messages are handled at a time, each of another group; 0 means 1.
	Limit int
	// Log gets the reasons for failures; it may be nil. Several goroutines may call it at a time.
	Log func(error)
}

// poll is how often the queue searches for messages that other processes have sent, and for messages whose
// delay is over.
const poll = 500 * time.Millisecond

// Work handles messages until ctx ends. That is the normal end of Work. The handlers of messages in progress
// should then end soon, and these messages are delivered again. Work also deletes expired records. It returns
// an error only if the database cannot be opened. Later errors go to the log, and the work continues.
func (q *Queue) Work(ctx context.Context, w Worker) error {
	if _, err := q.db.get(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	defer walk.Every(ctx, time.Hour, func() {
		if _, err := q.db.exec(ctx, prune, time.Now().Unix()); err != nil && ctx.Err() == nil {
			w.log(fmt.Errorf("forget old records: %w", err))
		}
	})()
	q.each(ctx, w, func() error {
		for ctx.Err() == nil {
			_, ok, err := q.next(ctx, w, false)
			if err != nil && !errors.Is(err, ctx.Err()) {
				w.log(err)
			}
			if !ok {
				q.await(ctx)
			}
		}
		return nil
	})
	return nil
}

// Drain handles messages until none are left, without delays between attempts. It returns how many messages
// were handled or given up. It waits for the messages that other processes handle. If Abandon fails, Drain ends
// with an error.
func (q *Queue) Drain(ctx context.Context, w Worker) (int, error) {
	var count atomic.Int64
	errs := q.each(ctx, w, func() error {
		for {
			done, ok, err := q.next(ctx, w, true)
			if done {
				count.Add(1)
			}
			if err != nil {
				return err
			}
			if ok {
				continue
			}
			left, err := q.Waiting(ctx)
			if err != nil || left == 0 {
				q.signal() // other goroutines may be waiting, too
				return err
			}
			q.await(ctx)
		}
	})
	return int(count.Load()), errors.Join(errs...)
}

// each runs f in parallel, up to the worker's limit.
func (q *Queue) each(ctx context.Context, w Worker, f func() error) []error {
	n := max(w.Limit, 1)
	return walk.Run(ctx, n, walk.Graph{N: n}, func(context.Context, int) error { return f() })
}

// await waits until there may be a message to handle, or until ctx ends.
func (q *Queue) await(ctx context.Context) {
	timer := time.NewTimer(poll)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-q.wake:
	case <-timer.C:
	}
}

func (w Worker) log(err error) {
	if w.Log != nil {
		w.Log(err)
	}
}

// next takes a message and handles it. ok is set if there was a message. done is set if the message is handled
// or given up. err is a failure of Abandon or of the database. A failure of Handle is not returned. hurry is as
// for claim.
func (q *Queue) next(ctx context.Context, w Worker, hurry bool) (done, ok bool, err error) {
	c, ok, err := q.claim(ctx, hurry)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err() // SQLite says only "interrupted"
	}
	if err != nil || !ok {
		return false, false, wrap("take a message", err)
	}
	q.signal()       // there may be more, for others
	defer q.signal() // afterwards, the next message of the group can be taken, or no message is left
	err = q.handle(ctx, w, c)
	// The result must be written even if ctx has ended.
	write, cancel := context.WithTimeout(context.WithoutCancel(ctx), busyTimeout)
	defer cancel()
	switch {
	case err == nil:
		return true, true, wrap("remove a message", q.remove(write, c))
	case ctx.Err() != nil:
		if e := q.unhand(write, c); e != nil {
			return false, true, wrap("give a message back", e)
		}
		return false, true, ctx.Err()
	case c.reason != "":
		err = fmt.Errorf("abandon message %s: %w", c.ID, err)
		return false, true, errors.Join(err, q.release(write, c, pipeline.Redelivery(c.receives, err, time.Now()), errors.New(c.reason)))
	}
	if !errors.As(err, new(*pipeline.HandOver)) {
		w.log(fmt.Errorf("message %s, try %d: %w", c.ID, c.receives, err))
	}
	pause := pipeline.Redelivery(c.receives, err, time.Now())
	if c.receives >= c.on.Receives() {
		pause = 0 // until it is given up
	}
	return false, true, wrap("give a message back", q.release(write, c, pause, err))
}

// handle passes a message to Handle, and renews the claim meanwhile.
func (q *Queue) handle(ctx context.Context, w Worker, c claimed) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := walk.Every(ctx, q.lease()/3, func() {
		// If the claim could not be renewed now, there are two more attempts before it expires.
		if held, err := q.keep(ctx, c); err == nil && !held {
			cancel(errTaken)
		}
	})
	defer stop()
	switch {
	case c.reason == "":
		if c.receives == 1 && w.Taken != nil {
			w.Taken(c.Message)
		}
		return w.Handle(ctx, c.Message)
	case w.Abandon == nil:
		return fmt.Errorf("nobody takes it: %s", c.reason)
	default:
		return w.Abandon(ctx, c.Message, c.reason)
	}
}

var errTaken = errors.New("another process has taken the message over")

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
