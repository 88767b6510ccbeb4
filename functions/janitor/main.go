// Janitor is the Lambda function that takes dead letters: messages that were handled in
// vain too often, or whose function died over them. It records that what they were about
// has failed, and tells people.
package main

import (
	"context"
	"fmt"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/lockstep-iac/lockstep/functions/run"
	"github.com/lockstep-iac/lockstep/functions/wiring"
)

func main() {
	w, err := wiring.Open(wiring.Janitor)
	if err != nil {
		wiring.Fail(wiring.Janitor, err)
	}
	reason := fmt.Sprintf("It was tried %d times, and each time it failed, or the function that tried it died: its log says why.", wiring.MaxReceives)
	dead := w.Consumer(func(ctx context.Context, m run.Message) error { return w.Pipeline.Abandon(ctx, m, reason) })
	lambda.Start(dead.Batch)
}
