// The probe is a Lambda function that does what its event says: what the runner's own
// tests run.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

var count, background int

func main() {
	if os.Getenv("PROBE") == "broken" {
		fmt.Println("the probe cannot begin")
		os.Exit(3)
	}
	lambda.Start(func(ctx context.Context, raw json.RawMessage) (any, error) {
		count++
		var event struct {
			Do, N   string
			Records []events.SQSMessage
			Body    string
		}
		if err := json.Unmarshal(raw, &event); err != nil {
			return nil, err
		}
		if event.Records != nil {
			return batch(event.Records), nil
		}
		switch event.Do {
		case "fail":
			return nil, errors.New("it went wrong")
		case "panic":
			panic("it went very wrong")
		case "exit":
			os.Exit(7)
		case "hang":
			fmt.Println("hanging")
			time.Sleep(time.Hour)
		case "large":
			return strings.Repeat("x", 6<<20), nil
		case "background":
			go func() {
				for {
					background++
					time.Sleep(time.Millisecond)
				}
			}()
		case "":
			return events.LambdaFunctionURLResponse{StatusCode: 202, Headers: map[string]string{"X-Probe": "yes"}, Body: string(raw)}, nil
		}
		lc, _ := lambdacontext.FromContext(ctx)
		deadline, _ := ctx.Deadline()
		return map[string]any{
			"count": count, "background": background, "arn": lc.InvokedFunctionArn, "id": lc.AwsRequestID,
			"seconds": time.Until(deadline).Seconds(), "env": os.Environ(),
		}, nil
	})
}

// batch fails the messages that say so.
func batch(records []events.SQSMessage) (out events.SQSEventResponse) {
	for _, r := range records {
		if strings.HasPrefix(r.Body, "fail") {
			out.BatchItemFailures = append(out.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: r.MessageId})
		}
	}
	return out
}
