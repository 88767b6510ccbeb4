package wiring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

// hidden notes what is said about visibility, as "receipt in queue: seconds".
type hidden []string

func (h *hidden) ChangeMessageVisibility(_ context.Context, in *sqs.ChangeMessageVisibilityInput, _ ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityOutput, error) {
	*h = append(*h, fmt.Sprintf("%s in %s: %d", *in.ReceiptHandle, *in.QueueUrl, in.VisibilityTimeout))
	return &sqs.ChangeMessageVisibilityOutput{}, nil
}

// record is a message as SQS hands it over. Its ID is its receipt, too.
func record(id, group, body string) events.SQSMessage {
	return events.SQSMessage{
		MessageId: id, ReceiptHandle: id, Body: body, EventSourceARN: "arn:aws:sqs:eu-central-1:1:x-plans.fifo",
		Attributes: map[string]string{"MessageGroupId": group, "ApproximateReceiveCount": "1"},
	}
}

func TestBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
		defer cancel()
		var h hidden
		var log bytes.Buffer
		var handled []string
		c := Consumer{
			SQS: &h, QueueURL: "https://sqs/1/x-events.fifo", Log: slog.New(slog.NewJSONHandler(&log, nil)),
			Handle: func(ctx context.Context, m pipeline.Message) error {
				handled = append(handled, m.ID)
				if end, _ := ctx.Deadline(); time.Until(end) != 100*time.Second-Margin {
					t.Errorf("%s has %s", m.ID, time.Until(end))
				}
				if m.ID == "bad" {
					return errors.New("GitHub is down")
				}
				return nil
			},
		}
		got, err := c.Batch(ctx, events.SQSEvent{Records: []events.SQSMessage{
			record("1", "a", `{"ID":"good"}`), record("2", "b", `{"ID":"bad"}`), record("3", "b", `{"ID":"later"}`),
			record("4", "a", `{"ID":"other"}`), record("5", "a", `not ours`),
		}})
		if err != nil {
			t.Fatal(err)
		}
		want := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{{ItemIdentifier: "2"}, {ItemIdentifier: "3"}}}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]string{"good", "bad", "other"}, handled); d != "" {
			t.Errorf("handled: %s", d)
		}
		// Each is hidden for longer than we live; what failed is for a while.
		wantHidden := hidden{
			"1 in https://sqs/1/x-plans.fifo: 160", "2 in https://sqs/1/x-plans.fifo: 160", "2 in https://sqs/1/x-plans.fifo: 30",
			"4 in https://sqs/1/x-plans.fifo: 160",
		}
		if d := cmp.Diff(wantHidden, h); d != "" {
			t.Errorf("visibility: %s", d)
		}
		for _, want := range []string{`"msg":"handled"`, `"error":"GitHub is down","again":"30s"`, `"msg":"dropped a message that Lockstep did not send"`} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("the log has no %s:\n%s", want, log.String())
			}
		}
	})
}

func TestPause(t *testing.T) {
	now := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	limited := func(d time.Duration) error {
		return fmt.Errorf("read pull request: %w", &github.RateLimitedError{Until: now.Add(d)})
	}
	down := errors.New("GitHub is down")
	for _, test := range []struct {
		name     string
		err      error
		stopped  bool
		received string
		want     time.Duration
	}{
		{"the first time", down, false, "1", 30 * time.Second},
		{"the second time", down, false, "2", 5 * time.Minute},
		{"an unknown time", down, false, "", 30 * time.Second},
		{"its time was over", down, true, "1", 0},
		{"a limit", limited(40 * time.Minute), false, "1", 40*time.Minute + time.Second},
		{"a limit, and no time", limited(40 * time.Minute), true, "2", 40*time.Minute + time.Second},
		{"a limit that is over", limited(-time.Minute), false, "1", 30 * time.Second},
		{"another process works on it", fmt.Errorf("handle: %w", &pipeline.BusyError{Until: now.Add(20 * time.Minute)}), true, "9", 20*time.Minute + time.Second},
		{"it did until now", &pipeline.BusyError{Until: now.Add(-time.Minute)}, false, "9", time.Second},
		{"a limit for ever", limited(48 * time.Hour), false, "1", 12 * time.Hour},
	} {
		if got := pause(test.err, test.stopped, test.received, now); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestQueueURL(t *testing.T) {
	const neighbour = "https://sqs.eu-central-1.amazonaws.com/1/x-events.fifo"
	got, err := queueURL(neighbour, "arn:aws:sqs:eu-central-1:1:x-plans-dead.fifo")
	if want := "https://sqs.eu-central-1.amazonaws.com/1/x-plans-dead.fifo"; got != want || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	for _, bad := range []string{"", "arn:aws:sqs:eu-central-1:1:", "arn:aws:sqs:eu-central-1:1:../2/x"} {
		if got, err := queueURL(neighbour, bad); err == nil {
			t.Errorf("%q: %s", bad, got)
		}
	}
}
