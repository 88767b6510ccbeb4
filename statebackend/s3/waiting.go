package s3

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// waiting tells a person why nothing happens while requests are repeated. The pauses
// grow: after six attempts half a minute has gone by.
type waiting struct {
	aws.RetryerV2
	service string
	note    func(string)
}

// noteworthy is the attempt after whose failure it is told, once a request.
const noteworthy = 2

// RetryDelay is asked before each further attempt.
func (w waiting) RetryDelay(attempt int, err error) (time.Duration, error) {
	if attempt == noteworthy {
		w.note(fmt.Sprintf("%s does not answer as it should, and is asked again: %v", w.service, cause(err)))
	}
	return w.RetryerV2.RetryDelay(attempt, err)
}

// cause is what is wrong with a connection, if that is it.
func cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op
	}
	return err
}

// patiently makes a retryer tell that it waits.
func patiently(r aws.Retryer, service string, note func(string)) aws.Retryer {
	if v2, ok := r.(aws.RetryerV2); ok && note != nil {
		return waiting{v2, service, note}
	}
	return r
}
