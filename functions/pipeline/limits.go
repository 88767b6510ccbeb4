package pipeline

import (
	"errors"
	"time"

	"github.com/lockstep-iac/lockstep/github"
)

// These limits are common to all implementations of [Queue], [Records] and [Artifacts], so that the pipeline
// behaves the same on each.
const (
	// MaxReceives is the number of times that a message is tried before it is given up.
	MaxReceives = 3
	// MaxHandOvers is the number of receives after which the queue of applies itself gives up a message. Each
	// hand-over of an apply to a new process is one receive. The failed attempts at an apply are counted in
	// records instead.
	MaxHandOvers = 500
	// MaxMessage is the maximum size of a message as JSON, in bytes, as in SQS.
	// Source:
	// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
	MaxMessage = 1 << 20
	// MaxRecord is the maximum size of a record's value, in bytes. A DynamoDB item holds 400 KB, including its
	// key and the names of its attributes. Source:
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-items
	MaxRecord = 390 << 10
	// MaxDir and MaxName are the maximum sizes of the two parts of a key, in bytes. They are the limits of
	// DynamoDB's partition key and sort key, minus a reserve.
	MaxDir, MaxName = 1024, 1000
)

// Memory is how far back the janitor searches for lost events. GitHub keeps deliveries for the same time.
// Source: https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks
const Memory = 3 * 24 * time.Hour

// DefaultStopBefore is the default length of the time at the end of its process in which an apply begins no change. The
// time is enough for one call of a provider and for writing the state after it.
const DefaultStopBefore = 2 * time.Minute

// maxRedelivery is the longest delay before a message is delivered again. It is the limit of SQS. Source:
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibility.html
const maxRedelivery = 12 * time.Hour

// Redelivery returns the delay before the next attempt at a message. receives is the number of attempts so
// far, and err is the error of the latest attempt. The whole group of the message waits. If err is a rate
// limit of GitHub, the delay ends when the limit ends. After most other errors, the delay is short after
// the first attempt, and longer after each later one.
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
