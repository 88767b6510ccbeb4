// Janitor is the Lambda function that handles dead letters, and makes the janitor's rounds on a schedule.
//
// A dead letter is a message whose handling failed too often, or killed its function. Its task is recorded as
// failed, and people are informed. A round finds work that was forgotten: see package reconcile.
package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/lockstep-iac/lockstep/functions/internal/wiring"
	"github.com/lockstep-iac/lockstep/functions/internal/wiring/collector"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
)

func main() {
	w, err := wiring.Open(wiring.Janitor)
	if err != nil {
		wiring.Fail(wiring.Janitor, err)
	}
	collector.Open(w)
	all := &fleet{world: w, known: map[string]*reconcile.Janitor{}}
	lambda.Start(handler(w.Consumer(all.abandon).Batch, func(ctx context.Context) error {
		found, err := all.round(ctx)
		w.Log.Info("round", "found", found)
		return err
	}))
}

// handler returns the function that handles both kinds of events. An event with records comes from a queue, and
// is passed to batch. Any other event starts a round.
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
