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

// Queue implements pipeline.Queue with SQS FIFO queues. The ID of a message becomes its deduplication ID in
// SQS. So sending a message twice within five minutes has no effect, no matter whether the SDK or Lockstep does
// it. Messages of different Apps are different, even if their IDs are equal.
type Queue struct {
	Client *sqs.Client
	// URLs are the URLs of the queues to which this process may send.
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

// encode returns a message as JSON. It escapes characters that SQS does not allow. It also escapes all
// characters above U+FFFF, because some SQS-compatible servers do not accept them. Source:
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
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

// hashed is the beginning of a token that is a hash: see [token].
const hashed = "sha256:"

// token returns a text that SQS accepts as the ID of a message or of a group. If text is longer than 128
// characters, or has characters other than printable ASCII, the token is its hash. Otherwise it is text itself.
// Source: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
func token(text string) string {
	odd := strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
	if text != "" && len(text) <= 128 && !odd && !strings.HasPrefix(text, hashed) {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return hashed + hex.EncodeToString(sum[:])
}
