// Janitor is the Lambda function that takes dead letters, and reconciles on a schedule.
//
// A dead letter is a message that was handled in vain too often, or over which its function died:
// its task is recorded as failed, and people are told. Reconciling finds the work that nobody would
// come back to: see package reconcile.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/lockstep-iac/lockstep/functions/internal/wiring"
	"github.com/lockstep-iac/lockstep/functions/internal/wiring/handling"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/github"
)

func main() {
	w, err := wiring.Open(wiring.Janitor)
	if err != nil {
		wiring.Fail(wiring.Janitor, err)
	}
	p := handling.Pipeline(w)
	dead := w.Consumer(func(ctx context.Context, m pipeline.Message) error { return p.Abandon(ctx, m, dispatch.Exhausted) })
	janitor := &reconcile.Janitor{
		Pipeline: p, App: w.App,
		Connect: func(installation int64, r github.Repo) (reconcile.Repository, error) {
			return w.App.Repository(installation, r)
		},
	}
	lambda.Start(handler(dead.Batch, func(ctx context.Context) error {
		found, err := janitor.Round(ctx, time.Now())
		w.Log.Info("round", "found", found)
		return err
	}))
}

// handler tells the two kinds of events apart: those of queues have records.
func handler(batch func(context.Context, events.SQSEvent) (events.SQSEventResponse, error), round func(context.Context) error) func(context.Context, json.RawMessage) (any, error) {
	return func(ctx context.Context, raw json.RawMessage) (any, error) {
		var e events.SQSEvent
		if err := json.Unmarshal(raw, &e); err != nil {
			return nil, fmt.Errorf("this event is neither a queue's nor the schedule's: %w", err)
		}
		if e.Records != nil {
			return batch(ctx, e)
		}
		return nil, round(ctx)
	}
}
