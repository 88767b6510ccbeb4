package awsstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// Queue implements pipeline.Queue on SQS FIFO queues. The ID of a message is its
// deduplication ID, so that an attempt to send it again, by the SDK or by us, is none
// within SQS' five minutes. Messages of two Apps may have the same ID, and are two.
type Queue struct {
	Client *sqs.Client
	// URLs are those of the queues that messages may be sent to from here.
	URLs map[pipeline.QueueName]string
}

// Send implements pipeline.Queue.
func (q Queue) Send(ctx context.Context, m pipeline.Message) error {
	body := encode(m)
	if len(body) > pipeline.MaxMessage {
		return fmt.Errorf("send message %s: %d bytes are more than %d", m.ID, len(body), pipeline.MaxMessage)
	}
	url := q.URLs[m.Queue()]
	if url == "" {
		return fmt.Errorf("send message %s: this function is not to send to the queue %s", m.ID, m.Queue())
	}
	_, err := q.Client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: &url, MessageBody: &body, MessageGroupId: aws.String(token(m.Group())), MessageDeduplicationId: aws.String(token(pipeline.Qualified(m.Pull.App, m.ID))),
	})
	if err != nil {
		return fmt.Errorf("send message %s to %s: %w", m.ID, m.Queue(), err)
	}
	return nil
}

// encode returns a message as JSON, with those characters escaped that JSON may have and
// SQS does not take, and all beyond the first 65,536, which not every server takes.
// Source: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
func encode(m pipeline.Message) string {
	data, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("awsstore: encode message %s: %v", m.ID, err))
	}
	var out strings.Builder
	for _, r := range string(data) { // outside of its strings JSON is ASCII
		if r < 0xfffe {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return out.String()
}

// hashed begins the tokens that stand for other texts.
const hashed = "sha256:"

// token returns a text as SQS takes it for the IDs of messages and groups: as it is, or,
// where it is longer than 128 characters or has others than printable ASCII, its hash.
// Source: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
func token(text string) string {
	odd := strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
	if text != "" && len(text) <= 128 && !odd && !strings.HasPrefix(text, hashed) {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return hashed + hex.EncodeToString(sum[:])
}
