package wiring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/lockstep-iac/lockstep/functions/metrics"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

// Margin is how long before the end of a Lambda invocation its work is cancelled. In this time, the work
// releases its leases and reports its result. A short invocation uses less time for that.
const Margin = 15 * time.Second

// margin returns how long before the end of an invocation its work is cancelled. left is the time until that
// end. The result is Margin, or a sixth of left if that is less.
func margin(left time.Duration) time.Duration { return min(Margin, max(left, 0)/6) }

// grace is a time after the end of an invocation. If the invocation has reported nothing until then, the queue
// delivers its message once more.
const grace = 60 * time.Second

// A Consumer handles the messages of SQS events, one after another.
type Consumer struct {
	// Handle handles a message. If it returns an error, the queue delivers the message once more.
	Handle func(ctx context.Context, m pipeline.Message) error
	SQS    Visibility
	// QueueURL is the URL of any queue in the same account and region. The URLs of other queues are derived
	// from it.
	QueueURL string
	Log      *slog.Logger
	// Measure records measurements; nil for nowhere.
	Measure metrics.Func
	// Flush is called at the end of each batch; it may be nil.
	Flush func(context.Context)
}

// Visibility sets when the queue delivers a received message once more. *sqs.Client implements it.
type Visibility interface {
	ChangeMessageVisibility(context.Context, *sqs.ChangeMessageVisibilityInput, ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityOutput, error)
}

// Batch handles the messages of an event. It returns the messages that the queue must deliver once more. If a
// message fails, Batch does not handle later messages of the same group, so that their order is kept.
func (c *Consumer) Batch(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
	if c.Flush != nil {
		defer c.Flush(ctx)
	}
	var out events.SQSEventResponse
	failed := map[string]bool{} // groups
	for _, x := range e.Records {
		group := x.EventSourceARN + " " + x.Attributes["MessageGroupId"]
		if failed[group] || !c.one(ctx, x) {
			failed[group] = true
			out.BatchItemFailures = append(out.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: x.MessageId})
		}
	}
	return out, nil
}

// one handles a message. It reports whether the message is done, so that the queue need not deliver it once
// more.
func (c *Consumer) one(ctx context.Context, x events.SQSMessage) bool {
	log := c.Log.With("message", x.MessageId, "group", x.Attributes["MessageGroupId"], "received", x.Attributes["ApproximateReceiveCount"])
	var m pipeline.Message
	if err := json.Unmarshal([]byte(x.Body), &m); err != nil || m.ID == "" {
		log.Error("dropped a message that Lockstep did not send", "error", err)
		return true
	}
	log = log.With("id", m.ID, "repository", m.Pull.Repository(), "pull", m.Pull.Number)
	end, ok := ctx.Deadline()
	if ok {
		// If this process dies, the queue delivers the message once more, at a time when the process has
		// certainly ended.
		c.hide(ctx, log, x, time.Until(end)+grace)
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(pipeline.WithHardStop(ctx, end), end.Add(-margin(time.Until(end))))
		defer cancel()
	}
	begin := time.Now()
	if sent := m.Cause.Sent; !sent.IsZero() && x.Attributes["ApproximateReceiveCount"] == "1" {
		c.Measure.Observe(metrics.QueueSeconds, max(begin.Sub(sent), 0).Seconds(), string(m.Kind))
	}
	err := c.Handle(ctx, m)
	log = log.With("seconds", time.Since(begin).Seconds())
	if err == nil {
		log.Info("handled")
		return true
	}
	if errors.As(err, new(*pipeline.HandOver)) {
		log.Info("handed over", "progress", err.Error())
		c.hide(context.WithoutCancel(ctx), log, x, 0)
		return false
	}
	wait := pause(err, ctx.Err() != nil, x.Attributes["ApproximateReceiveCount"], time.Now())
	log.Error("not handled", "error", err.Error(), "again", wait.String())
	c.hide(context.WithoutCancel(ctx), log, x, wait)
	return false
}

// pause returns how long to wait before a message is handled once more after the error err. stopped is set if
// the invocation's time was over: then there is no wait, unless GitHub's rate limit or another process requires
// one.
func pause(err error, stopped bool, received string, now time.Time) time.Duration {
	var limited *github.RateLimitedError
	var busy *pipeline.BusyError
	if stopped && !errors.As(err, &limited) && !errors.As(err, &busy) {
		return 0
	}
	n, _ := strconv.Atoi(received) // 0 is the first time, too
	return pipeline.Redelivery(n, err, now)
}

// hide makes the queue not deliver the message for the duration d. If hide fails, the visibility timeout of the
// queue applies, which is longer than any invocation.
func (c *Consumer) hide(ctx context.Context, log *slog.Logger, x events.SQSMessage, d time.Duration) {
	url, err := queueURL(c.QueueURL, x.EventSourceARN)
	if err == nil {
		seconds := int32(max(d, 0).Round(time.Second) / time.Second)
		_, err = c.SQS.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
			QueueUrl: &url, ReceiptHandle: aws.String(x.ReceiptHandle), VisibilityTimeout: seconds,
		})
	}
	if err != nil {
		log.Warn("could not change the message's visibility; the queue delivers it again later", "error", err.Error())
	}
}

// queueURL returns the URL of the queue with the given ARN. neighbour is the URL of any queue in the same
// account and region.
func queueURL(neighbour, arn string) (string, error) {
	name := arn[strings.LastIndex(arn, ":")+1:]
	i := strings.LastIndex(neighbour, "/")
	if name == "" || i < 0 || path.Base(name) != name {
		return "", fmt.Errorf("%q is not the ARN of a queue", arn)
	}
	return neighbour[:i+1] + name, nil
}
