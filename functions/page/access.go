package page

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Access says who may look at the pages.
//
// Without a Token it is whoever sits at this machine: the connection comes from it, the
// Host header names it (otherwise any web page could have its own name point here, and
// read ours), and no proxy stands between. A proxy on this machine need not say that it
// is one, so with Hosts, which only a proxy can give, nobody is taken for local. With a
// Token it is whoever knows it.
type Access struct {
	// Token is at least [ShortestToken] bytes long, or empty.
	Token string
	// Hosts are the names, with the port if there is one, that the pages are served
	// under beside those of this machine. They need a Token: without, nobody is served.
	Hosts []string
	// Secure says that browsers come by https, through a proxy.
	Secure bool
}

// ShortestToken is how many bytes a token has at least: 128 bits in hexadecimal.
const ShortestToken = 32

const (
	signInPath = "/sign-in"
	cookieName = "lockstep-page"
	cookieLife = 12 * time.Hour
)

// refusal is why a request is not served: a status and a text; the zero value if it is.
type refusal struct {
	status int
	reason string
	signIn bool // a token would help
}

// check decides about a request, whatever it is for.
func (a Access) check(r *http.Request) refusal {
	if !isLocalName(r.Host) && !slices.Contains(a.Hosts, strings.ToLower(r.Host)) {
		return refusal{status: http.StatusMisdirectedRequest, reason: "This page is not served under that name."}
	}
	if a.Token != "" {
		if a.signedIn(r) {
			return refusal{}
		}
		return refusal{status: http.StatusUnauthorized, reason: "The token is needed to look at this page.", signIn: true}
	}
	if len(a.Hosts) > 0 || !isLocalAddress(r.RemoteAddr) || forwarded(r) {
		return refusal{status: http.StatusForbidden, reason: "This page can be seen on its own machine only, unless it is given a token."}
	}
	return refusal{}
}

// signedIn reports whether a request has the token, or the cookie of who had it.
func (a Access) signedIn(r *http.Request) bool {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return a.isToken(token)
	}
	c, err := r.Cookie(cookieName)
	return err == nil && subtle.ConstantTimeCompare([]byte(c.Value), []byte(a.pass())) == 1
}

// isToken compares hashes, so that not even the length takes a different time.
func (a Access) isToken(s string) bool {
	got, want := sha256.Sum256([]byte(s)), sha256.Sum256([]byte(a.Token))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// pass is the cookie's value: it proves the token without being it, and ends with it.
func (a Access) pass() string {
	h := hmac.New(sha256.New, []byte(a.Token))
	h.Write([]byte("lockstep page"))
	return hex.EncodeToString(h.Sum(nil))
}

// cookie is what somebody gets who had the token.
func (a Access) cookie() *http.Cookie {
	return &http.Cookie{
		Name: cookieName, Value: a.pass(), Path: "/", MaxAge: int(cookieLife.Seconds()),
		HttpOnly: true, Secure: a.Secure, SameSite: http.SameSiteStrictMode,
	}
}

// isLocalName reports whether a Host header names this machine.
func isLocalName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

func isLocalAddress(addr string) bool {
	ap, err := netip.ParseAddrPort(addr)
	return err == nil && ap.Addr().Unmap().IsLoopback()
}

// forwarded reports whether a request looks passed on by a proxy: by what proxies add, or
// by HTTP/1.0, which nginx speaks to what is behind it, and no browser to anybody.
// Sources: https://www.rfc-editor.org/rfc/rfc7239,
// https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_http_version
func forwarded(r *http.Request) bool {
	for name := range r.Header {
		switch {
		case strings.HasPrefix(name, "X-Forwarded"), strings.HasPrefix(name, "X-Original-"), strings.HasPrefix(name, "X-Envoy-"), strings.HasPrefix(name, "Cf-"):
			return true
		case slices.Contains([]string{"Forwarded", "Via", "X-Real-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "True-Client-Ip", "X-Proxyuser-Ip"}, name):
			return true
		}
	}
	return !r.ProtoAtLeast(1, 1)
}
