package deploying

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aws/smithy-go"
)

// A shortError shortens an error of the AWS SDK to the call, the message and the code. It leaves out request
// IDs, HTTP status codes and the list of credential sources that were tried.
type shortError struct{ err error }

// Error implements error.
func (b shortError) Error() string {
	var call *smithy.OperationError
	if !errors.As(b.err, &call) {
		return b.err.Error()
	}
	why := call.Err.Error()
	var api smithy.APIError
	switch {
	case errors.As(call, &api):
		if why = api.ErrorCode(); api.ErrorMessage() != "" {
			why = fmt.Sprintf("%s (%s)", strings.TrimSuffix(api.ErrorMessage(), "."), api.ErrorCode())
		}
	case strings.Contains(why, "failed to refresh cached credentials"), strings.Contains(why, "get credentials"):
		why = "there are no AWS credentials, or they have expired"
	}
	return strings.ReplaceAll(b.err.Error(), call.Error(), fmt.Sprintf("%s %s: %s", call.Service(), call.Operation(), why))
}

// Unwrap returns the whole error.
func (b shortError) Unwrap() error { return b.err }
