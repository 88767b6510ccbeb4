package hosts

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A Policy decides which hosts and addresses may be installed from. No policy allows link-local and multicast
// addresses, where clouds have the metadata services that give out credentials.
type Policy struct {
	// Host returns an error, with a remedy, if requests to a host are not allowed. The name has no port, and
	// is in lower case. If Host is nil, all hosts are allowed.
	Host func(name string) error
	// HTTP allows http in addition to https. HTTPRemedy says how to allow http, in the error about a refused
	// http URL; "" if it cannot be allowed.
	HTTP       bool
	HTTPRemedy string
	// PublicOnly refuses the addresses of private networks and of this machine.
	PublicOnly bool
	// Private returns the exceptions from PublicOnly: it reports whether a host (without port, lower case)
	// may be in a private network, but not on this machine. If Private is nil, there are no exceptions.
	Private func(name string) bool
}

// CheckURL returns an error if the policy does not allow the URL. It also checks an IP address in the URL,
// since a proxy would connect to the address without a check.
func (p Policy) CheckURL(u *url.URL) error {
	if u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !p.HTTP) {
		text := fmt.Sprintf("only https URLs are followed, and not %s", Show(u))
		if u.Scheme == "http" && p.HTTPRemedy != "" {
			text += "; " + p.HTTPRemedy
		}
		return &refusedError{text}
	}
	return p.checkHost(u.Hostname())
}

// checkHost returns an error if the policy does not allow the host. The address of a name is known only when
// a connection is made: see [Policy.Transport].
func (p Policy) checkHost(name string) error {
	if p.Host != nil {
		if err := p.Host(strings.ToLower(name)); err != nil {
			return &refusedError{err.Error()}
		}
	}
	if ip, err := netip.ParseAddr(name); err == nil {
		return p.reachOf(name).checkIP(ip)
	}
	return nil
}

// reach says which kinds of addresses a host may have. Each value includes the values before it.
type reach int

const (
	public       reach = iota
	alsoPrivate        // and those of private networks
	alsoThisHost       // and those of this machine
)

// reachOf returns which addresses the host with this name may have: only public ones, also addresses of private
// networks, or also addresses of this machine.
func (p Policy) reachOf(name string) reach {
	switch {
	case !p.PublicOnly:
		return alsoThisHost
	case p.Private != nil && p.Private(strings.ToLower(name)):
		return alsoPrivate
	}
	return public
}

// CheckName returns an error if the policy does not allow the host, or one of the addresses that its name has
// now. It is for programs that make their own connections. The check is not complete: the name may have other
// addresses when the program connects. A name without an address is not refused, since a proxy may know it.
func (p Policy) CheckName(ctx context.Context, name string) error {
	if err := p.checkHost(name); err != nil {
		return err
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return nil
	}
	for _, ip := range found {
		if err := p.reachOf(name).checkIP(ip); err != nil {
			return err
		}
	}
	return nil
}

// Transport returns a transport that connects only to addresses that the policy allows. The address of a name
// is checked when the connection is made, not before. The environment variables for proxies are in effect. A
// proxy may be in a private network or on this machine, since the owner of the environment has chosen it.
func (p Policy) Transport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = 30 * time.Second
	var proxies sync.Map // their addresses, as they are dialed
	t.Proxy = func(r *http.Request) (*url.URL, error) {
		proxy, err := http.ProxyFromEnvironment(r)
		if proxy != nil {
			proxies.Store(dialed(proxy), true)
		}
		return proxy, err
	}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		may := alsoThisHost
		if _, ok := proxies.Load(address); !ok {
			name, _, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			may = p.reachOf(name)
		}
		d := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second, Control: may.checkAddress}
		return d.DialContext(ctx, network, address)
	}
	return t
}

// dialed returns the address that a transport connects to for a proxy.
func dialed(proxy *url.URL) string {
	port := proxy.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[proxy.Scheme]
	}
	return net.JoinHostPort(proxy.Hostname(), port)
}

func (r reach) checkAddress(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return &refusedError{fmt.Sprintf("%q is not the address of a server", address)}
	}
	return r.checkIP(to.Addr())
}

// metadata is an AWS network that is not link-local. It has the addresses of the metadata service, and of the
// services that give credentials to containers. Sources:
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-service.html
// https://docs.aws.amazon.com/eks/latest/userguide/pod-id-how-it-works.html
var metadata = netip.MustParsePrefix("fd00:ec2::/32")

func (r reach) checkIP(ip netip.Addr) error {
	ip = ip.Unmap().WithZone("")
	if ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() || metadata.Contains(ip) {
		return &refusedError{fmt.Sprintf("no connection is made to the address %s: it is link-local, a multicast address or a metadata service", ip)}
	}
	if inner, ok := translated(ip); ok {
		return r.checkIP(inner)
	}
	special := slices.ContainsFunc(notPublic, func(n netip.Prefix) bool { return n.Contains(ip) })
	if r < alsoThisHost && ip.IsLoopback() || r < alsoPrivate && (ip.IsPrivate() || special) {
		return &refusedError{fmt.Sprintf("no connection is made to the address %s here: it is in a private network", ip)}
	}
	return nil
}

// notPublic are further networks that no public host uses, in addition to those that netip knows. Sources:
// https://www.iana.org/assignments/iana-ipv4-special-registry,
// https://www.iana.org/assignments/iana-ipv6-special-registry
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),      // this network
	netip.MustParsePrefix("100.64.0.0/10"),  // behind a carrier's or a cloud's translation (RFC 6598)
	netip.MustParsePrefix("192.0.0.0/24"),   // protocol assignments
	netip.MustParsePrefix("198.18.0.0/15"),  // benchmarks
	netip.MustParsePrefix("240.0.0.0/4"),    // reserved, and broadcast
	netip.MustParsePrefix("fec0::/10"),      // site-local
	netip.MustParsePrefix("64:ff9b:1::/48"), // translated in a private way (RFC 8215)
	netip.MustParsePrefix("2001::/32"),      // Teredo, which stands for addresses of IPv4
}

// nat64, sixToFour and compatible are IPv6 networks whose addresses contain an IPv4 address (RFC 6052, RFC
// 3056, RFC 4291).
var (
	nat64      = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour  = netip.MustParsePrefix("2002::/16")
	compatible = netip.MustParsePrefix("::/96")
)

// translated returns the IPv4 address that an IPv6 address contains; false if it contains none.
func translated(ip netip.Addr) (netip.Addr, bool) {
	b := ip.As16()
	switch {
	case nat64.Contains(ip), compatible.Contains(ip) && !ip.IsLoopback():
		return netip.AddrFrom4([4]byte(b[12:16])), true
	case sixToFour.Contains(ip):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	}
	return netip.Addr{}, false
}
