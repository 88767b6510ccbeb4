package s3

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// waiting is a retryer that tells the user the reason for a delay. It does not retry a request whose failure
// cannot go away. The pauses grow: six attempts take half a minute.
type waiting struct {
	aws.RetryerV2
	service string
	note    func(string) // nil: no notes
}

// IsErrorRetryable reports whether the SDK should make the request again after err.
func (w waiting) IsErrorRetryable(err error) bool {
	return !statebackend.Untrusted(err) && w.RetryerV2.IsErrorRetryable(err)
}

// noteworthy is the number of the failed attempt after which the user gets a note, once for each request.
const noteworthy = 2

// RetryDelay returns the pause before the next attempt. The SDK calls it before each one.
func (w waiting) RetryDelay(attempt int, err error) (time.Duration, error) {
	if attempt == noteworthy && w.note != nil {
		w.note(fmt.Sprintf("%s does not answer as it should, and is asked again: %v", w.service, cause(err)))
	}
	return w.RetryerV2.RetryDelay(attempt, err)
}

// cause returns the connection's error if err wraps one, and otherwise err. Apart from the connection's
// error, err has only the SDK's list of its attempts.
func cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op
	}
	return err
}

// patiently returns a retryer that calls the function note when it waits. note may be nil.
func patiently(r aws.Retryer, service string, note func(string)) aws.Retryer {
	if v2, ok := r.(aws.RetryerV2); ok {
		return waiting{v2, service, note}
	}
	return r
}

// certificateHint returns what to do about a certificate that is not trusted; "" for other errors.
func certificateHint(err error) string {
	if !statebackend.Untrusted(err) {
		return ""
	}
	return ". The certificate of the server is not trusted. If it is of an authority of your own, write the path of a file with the certificate of that authority (PEM) into custom_ca_bundle of the backend block, or into the environment variable AWS_CA_BUNDLE"
}
