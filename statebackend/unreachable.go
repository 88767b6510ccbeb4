package statebackend

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
)

// Unreachable reports whether err means that no connection was established. Then the request was never sent:
// it had no effect, and the caller need not look for one.
func Unreachable(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	return errors.As(err, &dns) || errors.As(err, &op) && op.Op == "dial"
}

// Untrusted reports whether err means that the server's certificate is not trusted. Trying again does not
// help.
func Untrusted(err error) bool {
	var (
		verification *tls.CertificateVerificationError
		authority    x509.UnknownAuthorityError
		host         x509.HostnameError
		invalid      x509.CertificateInvalidError
		roots        x509.SystemRootsError
	)
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &host) ||
		errors.As(err, &invalid) || errors.As(err, &roots)
}
