package pipeline

import (
	"errors"
	"time"

	"github.com/lockstep-iac/lockstep/github"
)

// The limits that all implementations of the sockets share, so that the pipeline behaves alike on
// each.
const (
	// MaxReceives is the number of attempts at a message before it is abandoned.
	MaxReceives = 3
	// MaxHandOvers is the number of receives of a message on the queue of applies before the queue
	// itself takes it for dead: each hand-over is one. Attempts are counted in records there.
	MaxHandOvers = 500
	// MaxMessage is the maximum size of a message as JSON, in bytes, as in SQS.
	// Source:
	// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
	MaxMessage = 1 << 20
	// MaxRecord is the size of a record's value, in bytes. A DynamoDB item takes
	// 400 KB with its attributes' names and its key.
	// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-items
	MaxRecord = 390 << 10
	// MaxDir and MaxName are the maximum sizes of the two parts of a key, in bytes: those of
	// DynamoDB's partition and sort keys, less a reserve.
	MaxDir, MaxName = 1024, 1000
)

// Memory is how far back lost events are looked for: GitHub keeps deliveries as long.
// Source:
// https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks
const Memory = 3 * 24 * time.Hour

// DefaultStopBefore is the default time before the end of a process at which an apply begins no
// more changes: enough for a provider's call and for writing the state after it.
const DefaultStopBefore = 2 * time.Minute

// maxRedelivery is the longest that a message waits until it is handed over again, as
// SQS has it.
// Source: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibility.html
const maxRedelivery = 12 * time.Hour

// Redelivery is the delay before the next attempt at a message, after receives attempts of which
// the last failed with err. Its group waits with it. A rate limit of GitHub has an end of its own;
// other failures get some time to pass, more the second time.
func Redelivery(receives int, err error, now time.Time) time.Duration {
	var limited *github.RateLimitedError
	var busy *BusyError
	switch {
	case errors.As(err, new(*HandOver)):
		return 0
	case errors.As(err, &busy):
		return min(max(busy.Until.Sub(now), 0)+time.Second, maxRedelivery)
	case errors.As(err, &limited) && limited.Until.After(now):
		return min(limited.Until.Sub(now)+time.Second, maxRedelivery)
	case receives > 1:
		return 5 * time.Minute
	}
	return 30 * time.Second
}
