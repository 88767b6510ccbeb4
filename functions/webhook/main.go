// Webhook is the Lambda function that receives GitHub's webhooks. It checks the signature with the secret of
// the App that the address belongs to, records the delivery, and sends a message to the events queue. It calls
// neither GitHub nor the engine, so it answers in a fraction of GitHub's 10 seconds.
package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/lockstep-iac/lockstep/functions/internal/wiring"
	"github.com/lockstep-iac/lockstep/functions/metrics"
)

func main() {
	w, err := wiring.Open(wiring.Webhook)
	if err != nil {
		wiring.Fail(wiring.Webhook, err)
	}
	lambda.Start(handler(w.Webhooks().Answer, w.Measure))
}

// answerWithin is the time limit for the answer. If a delivery is not stored by then, the answer says that it
// failed. GitHub still waits at that time, so it lists the delivery as failed.
// Source:
// https://docs.github.com/en/webhooks/using-webhooks/best-practices-for-using-webhooks#respond-within-10-seconds
const answerWithin = 8 * time.Second

// handler returns the function that handles Lambda events. The function converts each event into an HTTP
// request for answer, and the result into a response. measure records the time of each answer.
func handler(answer func(ctx context.Context, path string, header http.Header, body []byte) (int, string), measure metrics.Func) func(context.Context, events.LambdaFunctionURLRequest) (events.LambdaFunctionURLResponse, error) {
	return func(ctx context.Context, e events.LambdaFunctionURLRequest) (events.LambdaFunctionURLResponse, error) {
		if e.RequestContext.HTTP.Method != http.MethodPost {
			return response(http.StatusMethodNotAllowed, "webhooks are posted"), nil
		}
		body := []byte(e.Body)
		if e.IsBase64Encoded {
			var err error
			if body, err = base64.StdEncoding.DecodeString(e.Body); err != nil {
				return response(http.StatusBadRequest, "the body is not readable"), nil
			}
		}
		header := http.Header{}
		for name, value := range e.Headers {
			header.Set(name, value)
		}
		ctx, cancel := context.WithTimeout(ctx, answerWithin)
		defer cancel()
		began := time.Now()
		status, text := answer(ctx, e.RawPath, header, body)
		measure.Observe(metrics.WebhookSeconds, time.Since(began).Seconds(), strconv.Itoa(status))
		return response(status, text), nil
	}
}

func response(status int, text string) events.LambdaFunctionURLResponse {
	body, err := json.Marshal(map[string]string{"result": text})
	if err != nil {
		panic(err) // of a text
	}
	return events.LambdaFunctionURLResponse{StatusCode: status, Headers: map[string]string{"Content-Type": "application/json"}, Body: string(body)}
}
