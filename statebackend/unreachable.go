package statebackend

import (
	"errors"
	"net"
)

// Unreachable reports whether err means that no connection was established. Then
// the request was never sent: it had no effect, and there is no need to look for
// one.
func Unreachable(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	return errors.As(err, &dns) || errors.As(err, &op) && op.Op == "dial"
}
