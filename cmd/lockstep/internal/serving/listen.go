package serving

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
)

// listen listens on the address HOST:PORT. If PORT is 0, the system chooses a free port.
func listen(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	var dns *net.DNSError
	var wrong *net.AddrError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, cli.Hinted(fmt.Errorf("another program already listens on %s", addr), "choose another port with -addr, or port 0 for any free port")
	case errors.Is(err, syscall.EACCES):
		return nil, cli.Hinted(fmt.Errorf("this user may not listen on %s", addr), "ports below 1024 are for root: choose another port with -addr")
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.As(err, &dns), errors.As(err, &wrong):
		return nil, cli.Hinted(fmt.Errorf("%s is not an address of this machine", addr), "write HOST:PORT: -addr 127.0.0.1:8080")
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return l, nil
}
