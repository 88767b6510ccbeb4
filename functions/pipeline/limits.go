package pipeline

import (
	"errors"
	"time"

	"github.com/lockstep-iac/lockstep/github"
)

// What every implementation of the sockets keeps to, so that what works on one works
// on the other.
const (
	// MaxReceives is how often a message is handed over before it is given up.
	MaxReceives = 3
	// MaxMessage is the size of a message as JSON, in bytes: what SQS takes.
	// Source: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
	MaxMessage = 1 << 20
	// MaxRecord is the size of a record's value, in bytes. A DynamoDB item takes
	// 400 KB with its attributes' names and its key.
	// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-items
	MaxRecord = 390 << 10
	// MaxDir and MaxName are the sizes of the two parts of a key, in bytes: those of
	// DynamoDB's partition and sort keys, less some for what else may be in them.
	MaxDir, MaxName = 1024, 1000
)

// Memory is how far back somebody looks for what was not done: as long as GitHub keeps
// deliveries.
// Source: https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks
const Memory = 3 * 24 * time.Hour

// DefaultStopBefore is how long before the end of the process' time an apply begins no
// more changes, if nothing else is said: what a call of a provider may take, and the
// state after it.
const DefaultStopBefore = 2 * time.Minute

// maxRedelivery is the longest that a message waits until it is handed over again, as
// SQS has it.
// Source: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibility.html
const maxRedelivery = 12 * time.Hour

// Redelivery says how long a message waits until it is handed over again, when it has
// been handed over receives times and handling it failed with err now. Its group waits
// with it. GitHub's limits say when they end; otherwise the world gets some time to
// mend, more the second time.
func Redelivery(receives int, err error, now time.Time) time.Duration {
	var limited *github.RateLimitedError
	switch {
	case errors.As(err, &limited) && limited.Until.After(now):
		return min(limited.Until.Sub(now)+time.Second, maxRedelivery)
	case receives > 1:
		return 5 * time.Minute
	}
	return 30 * time.Second
}
