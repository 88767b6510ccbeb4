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

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/lockstep-iac/lockstep/functions/internal/wiring"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
)

func main() {
	w, err := wiring.Open(wiring.Janitor)
	if err != nil {
		wiring.Fail(wiring.Janitor, err)
	}
	all := &fleet{world: w, known: map[string]*reconcile.Janitor{}}
	lambda.Start(handler(w.Consumer(all.abandon).Batch, func(ctx context.Context) error {
		found, err := all.round(ctx)
		w.Log.Info("round", "found", found)
		return err
	}))
}

// handler tells the two kinds of events apart: those of queues have records.
func handler(batch func(context.Context, events.SQSEvent) (events.SQSEventResponse, error), round func(context.Context) error) func(context.Context, json.RawMessage) (any, error) {
	return func(ctx context.Context, raw json.RawMessage) (any, error) {
		var e events.SQSEvent
		if err := json.Unmarshal(raw, &e); err != nil {
			return nil, fmt.Errorf("this event is from neither a queue nor the schedule: %w", err)
		}
		if e.Records != nil {
			return batch(ctx, e)
		}
		return nil, round(ctx)
	}
}
