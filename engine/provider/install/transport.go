package install

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

// A refusedError says what we do not do on principle, so that asking again is no use.
type refusedError struct {
	reason string
}

func (e *refusedError) Error() string { return e.reason }

// SafeTransport returns a transport that connects to no link-local address, where
// clouds keep the metadata services that hand out credentials. Which address a name
// stands for is checked when the connection is made, not before. Proxies are those of
// the environment.
func SafeTransport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second, Control: checkAddress}).DialContext
	t.ResponseHeaderTimeout = 30 * time.Second
	return t
}

func checkAddress(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return &refusedError{fmt.Sprintf("%q is not the address of a server", address)}
	}
	return checkIP(to.Addr())
}

// metadataIPv6 is AWS' metadata service, which is not at a link-local address.
var metadataIPv6 = netip.MustParseAddr("fd00:ec2::254")

func checkIP(ip netip.Addr) error {
	ip = ip.Unmap().WithZone("")
	if ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip == metadataIPv6 {
		return &refusedError{fmt.Sprintf("providers are not installed from the address %s: it is link-local, a multicast address or a metadata service", ip)}
	}
	return nil
}

// checkURL refuses URLs that are not https, and those that name an address which a
// proxy might be willing to connect to.
func checkURL(u *url.URL) error {
	if u.Scheme != "https" || u.Host == "" {
		return &refusedError{fmt.Sprintf("providers are installed from https URLs only, not from %s", show(u))}
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
		return checkIP(ip)
	}
	return nil
}

// show returns a URL for messages: without user, password and query, which may hold
// secrets.
func show(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, Opaque: u.Opaque}).String()
}

// plain takes the URL out of an error of net/http.
func plain(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		if e.Timeout() {
			return fmt.Errorf("timed out: %w", e.Err)
		}
		return e.Err
	}
	return err
}

// mayPass reports whether the same request may succeed a little later.
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
