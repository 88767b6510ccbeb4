package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
)

// Start handles the messages of the function, or the only message of a build. It never returns.
func (w *Worker) Start() {
	if message := os.Getenv(messageVariable); message != "" && os.Getenv("AWS_LAMBDA_RUNTIME_API") == "" {
		os.Exit(w.build(context.Background(), message))
	}
	lambda.Start(w.handle)
}

// handle handles an event. It first empties the directory for temporary files, except for checkouts that it may use again. If the process is asked to end
// by a signal, the work stops as it does at its deadline.
func (w *Worker) handle(ctx context.Context, e events.SQSEvent) (*delivered, error) {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	if err := w.scratch.Empty(w.checkouts.Dirs()...); err != nil {
		return nil, err
	}
	out, err := w.Consumer(w.Handle).Batch(ctx, e)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	return &delivered{Reader: bytes.NewReader(data), then: w.next}, nil
}

// next ends the process after a run that has started a program which the base branch does not name exactly.
// Lambda then starts a new process. If Lambda regards the invocation as failed, it delivers the messages once
// more, and Lockstep recognizes that they are done. Source:
// https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html#runtimes-lifecycle-invoke
func (w *Worker) next() {
	if w.used() {
		w.Log.Info("this process has run programs of a pull request, so it ends; a new process handles the next message")
		w.scratch.Close()
		os.Exit(0)
	}
}

// delivered is the answer to an invocation. It calls the function then once Lambda has received the answer.
// This works because delivered is a reader that cannot be encoded as JSON: the Lambda library sends the bytes
// of such a reader unchanged, and then closes it.
type delivered struct {
	*bytes.Reader
	then func()
}

// MarshalJSON always returns an error. So the Lambda library sends the bytes of the reader instead of JSON.
func (*delivered) MarshalJSON() ([]byte, error) { return nil, errors.New("it is encoded") }

// ContentType returns the content type of the answer.
func (*delivered) ContentType() string { return "application/json" }

// Close is called when Lambda has received the answer. It calls the function then.
func (d *delivered) Close() error {
	d.then()
	return nil
}
