package statebackend

import (
	"errors"
	"net"
)

// Unreachable reports whether an error says that no connection came about: nothing
// was sent, so nothing that was to be done has been done, and asking what became of
// it is of no use.
func Unreachable(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	return errors.As(err, &dns) || errors.As(err, &op) && op.Op == "dial"
}
