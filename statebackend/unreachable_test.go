package statebackend_test

import (
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend"
)

func TestUnreachable(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("connection refused"), false},
		{fmt.Errorf("put: %w", &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}), true},
		{fmt.Errorf("put: %w", &net.OpError{Op: "read", Net: "tcp", Err: errors.New("connection reset by peer")}), false},
		{fmt.Errorf("put: %w", &net.OpError{Op: "write", Net: "tcp", Err: errors.New("broken pipe")}), false},
		{fmt.Errorf("put: %w", &net.DNSError{Err: "no such host", Name: "s3.example.com", IsNotFound: true}), true},
	} {
		if got := statebackend.Unreachable(c.err); got != c.want {
			t.Errorf("Unreachable(%v) = %t", c.err, got)
		}
	}
}
