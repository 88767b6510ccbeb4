//go:build linux

package lambdatest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// A Mapping is an event source mapping. It receives messages from an SQS queue, passes them to a function, and
// deletes those that the function did not report as failed. SQS delivers the others again after their
// visibility timeout. It moves a message that was delivered too often to the dead-letter queue.
// Source: https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
type Mapping struct {
	Queue     *sqs.Client
	QueueURL  string
	QueueName string
	Function  *Function
	BatchSize int32
	// Twice passes every batch to the function a second time, after the batch was handled.
	Twice bool

	asks  func(action string) // called with each action of Lambda on the queue, which needs the function's role
	taken func(bytes int64)   // called with the size of each batch

	mu   sync.Mutex
	left map[string]string // receipts of messages that were not deleted, by message ID
}

// Step receives messages once, without waiting. It returns the number of messages, and the result of the
// invocation that handled them.
func (m *Mapping) Step(ctx context.Context) (int, Invocation, error) {
	m.ask("sqs:ReceiveMessage")
	in, err := m.Queue.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &m.QueueURL, MaxNumberOfMessages: m.BatchSize,
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	})
	if err != nil {
		return 0, Invocation{}, fmt.Errorf("receive from %s: %w", m.QueueName, err)
	}
	if len(in.Messages) == 0 {
		return 0, Invocation{}, nil
	}
	if m.taken != nil {
		var bytes int64
		for _, x := range in.Messages {
			bytes += int64(len(aws.ToString(x.Body)))
		}
		m.taken(bytes)
	}
	m.keep(in.Messages)
	got, err := m.Function.Invoke(m.event(in.Messages))
	if err == nil && got.Error == nil && m.Twice {
		got, err = m.Function.Invoke(m.event(in.Messages))
	}
	if err != nil || got.Error != nil {
		return len(in.Messages), got, err // all messages are delivered again
	}
	failed, err := failures(got.Payload)
	if err != nil {
		return len(in.Messages), got, err
	}
	for _, x := range in.Messages {
		if slices.Contains(failed, aws.ToString(x.MessageId)) {
			continue
		}
		m.ask("sqs:DeleteMessage")
		if _, err := m.Queue.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &m.QueueURL, ReceiptHandle: x.ReceiptHandle}); err != nil {
			return len(in.Messages), got, fmt.Errorf("delete from %s: %w", m.QueueName, err)
		}
		m.drop(x)
	}
	return len(in.Messages), got, nil
}

func (m *Mapping) ask(action string) {
	if m.asks != nil {
		m.asks(action)
	}
}

// failures returns the IDs of the failed messages in a function's answer. If the answer is not JSON, or a
// failure has no ID, it returns an error: the whole batch has failed.
func failures(payload []byte) ([]string, error) {
	var answer events.SQSEventResponse
	if len(payload) > 0 {
		if err := json.Unmarshal(payload, &answer); err != nil {
			return nil, fmt.Errorf("the function's answer is no SQSEventResponse: %w", err)
		}
	}
	var out []string
	for _, f := range answer.BatchItemFailures {
		if f.ItemIdentifier == "" {
			return nil, fmt.Errorf("the function reports a failure without the message's ID")
		}
		out = append(out, f.ItemIdentifier)
	}
	return out, nil
}

func (m *Mapping) event(messages []types.Message) events.SQSEvent {
	var e events.SQSEvent
	for _, x := range messages {
		e.Records = append(e.Records, events.SQSMessage{
			MessageId: aws.ToString(x.MessageId), ReceiptHandle: aws.ToString(x.ReceiptHandle),
			Body: aws.ToString(x.Body), Md5OfBody: aws.ToString(x.MD5OfBody), Attributes: x.Attributes,
			MessageAttributes: map[string]events.SQSMessageAttribute{},
			EventSource:       "aws:sqs", AWSRegion: Region,
			EventSourceARN: strings.Join([]string{"arn:aws:sqs", Region, AccountID, m.QueueName}, ":"),
		})
	}
	return e
}

func (m *Mapping) keep(messages []types.Message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left == nil {
		m.left = map[string]string{}
	}
	for _, x := range messages {
		m.left[aws.ToString(x.MessageId)] = aws.ToString(x.ReceiptHandle)
	}
}

func (m *Mapping) drop(x types.Message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.left, aws.ToString(x.MessageId))
}

// Expire ends the visibility timeout of all messages that were received but not deleted, so that they can be
// received at once. It returns the number of these messages.
func (m *Mapping) Expire(ctx context.Context) (int, error) {
	m.mu.Lock()
	left := m.left
	m.left = nil
	m.mu.Unlock()
	for _, receipt := range left {
		_, err := m.Queue.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{QueueUrl: &m.QueueURL, ReceiptHandle: &receipt, VisibilityTimeout: 0})
		if err != nil {
			return len(left), fmt.Errorf("expire in %s: %w", m.QueueName, err)
		}
	}
	return len(left), nil
}
