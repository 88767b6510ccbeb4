package main

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// A hintedError says what helps, too.
type hintedError struct {
	error
	hint string
}

func (e *hintedError) Unwrap() error { return e.error }

// hinted adds what helps to an error.
func hinted(err error, hint string, args ...any) error {
	return &hintedError{err, fmt.Sprintf(hint, args...)}
}

// failed reports an error of a command that is not about a configuration.
func (a *app) failed(err error) int {
	fmt.Fprintf(a.err, "lockstep: error: %s\n", err)
	var h *hintedError
	if errors.As(err, &h) {
		fmt.Fprintf(a.err, "lockstep: hint: %s\n", h.hint)
	}
	return 1
}

// listen listens on an address: HOST:PORT, where port 0 is any that is free.
func listen(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	var dns *net.DNSError
	var wrong *net.AddrError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, hinted(fmt.Errorf("something else listens on %s already", addr), "name another port with -addr, or port 0 for any that is free")
	case errors.Is(err, syscall.EACCES):
		return nil, hinted(fmt.Errorf("this user may not listen on %s", addr), "ports below 1024 are for root: name another one with -addr")
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.As(err, &dns), errors.As(err, &wrong):
		return nil, hinted(fmt.Errorf("%s is no address of this machine", addr), "an address is HOST:PORT, such as -addr 127.0.0.1:8080")
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return l, nil
}
