package ledger

import (
	"context"
	"net/url"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A Stop is the order to stop one plan or one apply of a run. It has no effect on later plans and applies.
type Stop struct {
	Verb   comment.Verb // plan or apply
	Number int          // the run's Attempt for a plan, its Try for an apply
	By     string       // login
	At     time.Time
}

// stopKey returns the key of the latest order to stop work on a run.
func stopKey(run string) string { return "stop/" + url.PathEscape(run) }

// stoppable returns an order to stop the present work on a run. Its number is 0 if nothing can be stopped.
func stoppable(r runs.Run) Stop {
	switch {
	case r.Phase.UnderWay():
		return Stop{Verb: comment.Apply, Number: r.Asked.Try}
	case r.Waiting():
		return Stop{Verb: comment.Apply, Number: r.Asked.ThenApply}
	case r.Phase == runs.Queued || r.Phase == runs.Planning:
		return Stop{Verb: comment.Plan, Number: r.Asked.Attempt}
	}
	return Stop{}
}

// OrderStop orders that the plan or apply of a run that is in progress must stop, and returns the order. Its
// number is 0 if nothing is in progress. If the same work was already ordered to stop, the earlier order is
// kept.
func (ld Ledger) OrderStop(ctx context.Context, r runs.Run, by string) (Stop, error) {
	order := stoppable(r)
	if order.Number == 0 {
		return order, nil
	}
	order.By, order.At = by, time.Now().UTC()
	_, err := ld.Change(ctx, stopKey(r.Key()), func(old []byte) ([]byte, error) {
		// Even if the record of an earlier order is damaged, people can stop the work.
		have, err := decode[Stop](pipeline.Record{Value: old})
		if err == nil && have != nil && have.Verb == order.Verb && have.Number == order.Number {
			order = *have
			return nil, ErrAsIs
		}
		return pipeline.Encode(order), nil
	})
	return order, err
}

// StopOf returns the order to stop that plan or apply of a run which is in progress; nil if there is none.
func (ld Ledger) StopOf(ctx context.Context, r runs.Run) (*Stop, error) {
	s, err := get[Stop](ctx, ld, stopKey(r.Key()))
	if err != nil || s == nil {
		return nil, err
	}
	if now := stoppable(r); now.Number == 0 || s.Verb != now.Verb || s.Number != now.Number {
		return nil, nil // it is for earlier work
	}
	return s, nil
}
