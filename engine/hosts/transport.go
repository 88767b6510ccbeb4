package hosts

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// A refusedError reports a request that the policy forbids. Trying again does not help.
type refusedError struct {
	reason string
}

func (e *refusedError) Error() string { return e.reason }

// Show returns a URL for messages, without user, password and query, which may have secrets.
func Show(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, Opaque: u.Opaque}).String()
}

// Plain removes the URL from an error of net/http.
func Plain(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		if e.Timeout() {
			return fmt.Errorf("timed out: %w", e.Err)
		}
		return e.Err
	}
	return err
}

// mayPass reports whether the same request may succeed later. This is so for an error of the server, but not
// for a refusal by the policy or a wrong certificate.
func mayPass(err error) bool {
	var status *statusError
	var refused *refusedError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &status):
		return status.code >= 500 || status.code == http.StatusTooManyRequests
	case errors.As(err, &refused), errors.As(err, &certificate):
		return false
	}
	return true
}
