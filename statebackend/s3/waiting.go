package s3

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// waiting tells a person the reason for a delay while requests are repeated. The
// pauses grow: six attempts take half a minute.
type waiting struct {
	aws.RetryerV2
	service string
	note    func(string)
}

// noteworthy is the attempt whose failure is told, once per request.
const noteworthy = 2

// RetryDelay is called before each further attempt.
func (w waiting) RetryDelay(attempt int, err error) (time.Duration, error) {
	if attempt == noteworthy {
		w.note(fmt.Sprintf("%s does not answer as it should, and is asked again: %v", w.service, cause(err)))
	}
	return w.RetryerV2.RetryDelay(attempt, err)
}

// cause returns the connection's error if err wraps one, and else err: the rest is
// the SDK's account of its attempts.
func cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op
	}
	return err
}

// patiently makes a retryer call note when it waits.
func patiently(r aws.Retryer, service string, note func(string)) aws.Retryer {
	if v2, ok := r.(aws.RetryerV2); ok && note != nil {
		return waiting{v2, service, note}
	}
	return r
}
