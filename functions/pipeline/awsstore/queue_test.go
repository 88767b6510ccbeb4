package awsstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
)

func TestQueue(t *testing.T) {
	t.Parallel()
	url := lambdatest.StartQueues(t)
	lambdatest.TestLine(t, func(t *testing.T) lambdatest.Line {
		client, n := lambdatest.SQS(url), number.Add(1)
		l := &line{Queue: Queue{client, map[pipeline.QueueName]string{}}, left: map[string]receipt{}}
		l.dead = lambdatest.MakeQueue(t, client, fmt.Sprintf("dead%d.fifo", n), nil).URL
		for _, name := range []pipeline.QueueName{pipeline.Events, pipeline.Plans, pipeline.Applies} {
			dead := lambdatest.QueueID{ARN: fmt.Sprintf("arn:aws:sqs:%s:%s:dead%d.fifo", lambdatest.Region, account(l.dead), n)}
			l.URLs[name] = lambdatest.MakeQueue(t, client, fmt.Sprintf("%s%d.fifo", name, n), &dead).URL
		}
		return l
	})
}

// TestQueueOfApps holds that messages of two Apps with the same ID, those of repositories with the same number, are two, and
// that one of the same App is one.
func TestQueueOfApps(t *testing.T) {
	t.Parallel()
	client, n := lambdatest.SQS(lambdatest.StartQueues(t)), number.Add(1)
	l := &line{Queue: Queue{client, map[pipeline.QueueName]string{}}, left: map[string]receipt{}}
	l.dead = lambdatest.MakeQueue(t, client, fmt.Sprintf("dead%d.fifo", n), nil).URL
	for _, name := range []pipeline.QueueName{pipeline.Events, pipeline.Plans, pipeline.Applies} {
		l.URLs[name] = lambdatest.MakeQueue(t, client, fmt.Sprintf("%s%d.fifo", name, n), nil).URL
	}
	for _, app := range []string{"", "ghes", "ghes"} {
		if err := l.Send(t.Context(), pipeline.Message{ID: "same", Kind: pipeline.Pushed, Pull: pipeline.Pull{App: app, Number: 7}}); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	if err := l.Work(t.Context(), func(_ context.Context, m pipeline.Message) error { got = append(got, "of "+m.Pull.App); return nil }); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if !slices.Equal(got, []string{"of ", "of ghes"}) {
		t.Errorf("%q", got)
	}
}

// account is the part of a queue's URL that names whose it is.
func account(url string) string {
	parts := strings.Split(url, "/")
	return parts[len(parts)-2]
}

// line receives from the queues as Lambda does, and hands messages over one by one.
type line struct {
	Queue
	dead string
	left map[string]receipt // what was handed over in vain, by the message's ID
}

type receipt struct{ queue, handle string }

// each receives what is in the queues until nothing is to be had, or do returns false.
func (l *line) each(ctx context.Context, urls []string, do func(m pipeline.Message, x types.Message) (handled bool, err error)) error {
	for idle := false; !idle; {
		idle = true
		for _, url := range urls {
			out, err := l.Client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
				QueueUrl: &url, MaxNumberOfMessages: 1, MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
			})
			if err != nil {
				return err
			}
			for _, x := range out.Messages {
				idle = false
				var m pipeline.Message
				if err := json.Unmarshal([]byte(*x.Body), &m); err != nil {
					return err
				}
				l.left[*x.MessageId] = receipt{url, *x.ReceiptHandle}
				handled, err := do(m, x)
				if err != nil {
					return err
				}
				if !handled {
					continue
				}
				delete(l.left, *x.MessageId)
				if _, err := l.Client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: x.ReceiptHandle}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (l *line) urls() []string {
	return []string{l.URLs[pipeline.Events], l.URLs[pipeline.Plans], l.URLs[pipeline.Applies]}
}

func (l *line) Work(ctx context.Context, handle func(context.Context, pipeline.Message) error) error {
	return l.each(ctx, l.urls(), func(m pipeline.Message, _ types.Message) (bool, error) { return handle(ctx, m) == nil, nil })
}

func (l *line) Take(ctx context.Context) (taken pipeline.Message, ok bool, err error) {
	stop := fmt.Errorf("that is it")
	err = l.each(ctx, l.urls(), func(m pipeline.Message, _ types.Message) (bool, error) {
		taken, ok = m, true
		return false, stop
	})
	if err == stop {
		err = nil
	}
	return taken, ok, err
}

func (l *line) Pass(ctx context.Context) error {
	for id, r := range l.left {
		if _, err := l.Client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{QueueUrl: &r.queue, ReceiptHandle: &r.handle}); err != nil {
			return err
		}
		delete(l.left, id)
	}
	return nil
}

func (l *line) Dead(ctx context.Context) (dead []pipeline.Message, err error) {
	err = l.each(ctx, []string{l.dead}, func(m pipeline.Message, _ types.Message) (bool, error) {
		dead = append(dead, m)
		return true, nil
	})
	return dead, err
}
