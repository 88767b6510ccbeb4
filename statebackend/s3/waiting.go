package s3

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// waiting tells a person the reason for a delay while requests are repeated, and repeats none whose failure
// does not go away. The pauses grow: six attempts take half a minute.
type waiting struct {
	aws.RetryerV2
	service string
	note    func(string) // nil: nobody is told
}

// IsErrorRetryable reports whether a request is made again.
func (w waiting) IsErrorRetryable(err error) bool {
	return !statebackend.Untrusted(err) && w.RetryerV2.IsErrorRetryable(err)
}

// noteworthy is the attempt whose failure is told, once per request.
const noteworthy = 2

// RetryDelay is called before each further attempt.
func (w waiting) RetryDelay(attempt int, err error) (time.Duration, error) {
	if attempt == noteworthy && w.note != nil {
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

// patiently makes a retryer call note, which may be nil, when it waits.
func patiently(r aws.Retryer, service string, note func(string)) aws.Retryer {
	if v2, ok := r.(aws.RetryerV2); ok {
		return waiting{v2, service, note}
	}
	return r
}

// certificateHint tells what to do about a certificate that is not trusted; "" for other errors.
func certificateHint(err error) string {
	if !statebackend.Untrusted(err) {
		return ""
	}
	return ". The certificate of the server is not trusted. If it is of an authority of your own, write the path of a file with the certificate of that authority (PEM) into custom_ca_bundle of the backend block, or into the environment variable AWS_CA_BUNDLE"
}
