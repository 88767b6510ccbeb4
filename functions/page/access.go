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

// Access decides who may see the pages.
//
// Without a Token, only users of this machine may: the connection must come from this machine, without a proxy,
// and the Host header must name this machine. (Otherwise any website could point its own name here and read our
// pages.) A proxy on this machine need not identify itself. So if Hosts are set, which only a proxy can serve,
// no request counts as local. With a Token, everybody who knows it may see the pages.
type Access struct {
	// Token is at least [ShortestToken] bytes long, or empty.
	Token string
	// Hosts are further host names of the pages, with the port if there is one. They need a Token: without it,
	// requests to these hosts are refused.
	Hosts []string
	// Secure is set if browsers use https, through a proxy. It makes the cookie secure.
	Secure bool
}

// ShortestToken is the minimum length of a token in bytes: 128 bits in hexadecimal.
const ShortestToken = 32

const (
	signInPath = "/sign-in"
	cookieName = "lockstep-page"
	cookieLife = 12 * time.Hour
)

// A refusal is the HTTP status and the reason for refusing a request. The zero value admits the request.
type refusal struct {
	status int
	reason string
	signIn bool // a token would help
}

// check decides whether to admit a request. The zero refusal admits it.
func (a Access) check(r *http.Request) refusal {
	if !isLocalName(r.Host) && !slices.Contains(a.Hosts, strings.ToLower(r.Host)) {
		return refusal{status: http.StatusMisdirectedRequest, reason: "This page is not served under that name."}
	}
	if a.Token != "" {
		if a.signedIn(r) {
			return refusal{}
		}
		return refusal{status: http.StatusUnauthorized, reason: "This page needs the token.", signIn: true}
	}
	if len(a.Hosts) > 0 || !isLocalAddress(r.RemoteAddr) || forwarded(r) {
		return refusal{status: http.StatusForbidden, reason: "Without a token this page is shown on its own machine only."}
	}
	return refusal{}
}

// signedIn reports whether a request contains the token, or the cookie for it.
func (a Access) signedIn(r *http.Request) bool {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return a.isToken(token)
	}
	c, err := r.Cookie(cookieName)
	return err == nil && subtle.ConstantTimeCompare([]byte(c.Value), []byte(a.pass())) == 1
}

// isToken compares s with the token. It compares hashes, so that the time does not reveal even the length.
func (a Access) isToken(s string) bool {
	got, want := sha256.Sum256([]byte(s)), sha256.Sum256([]byte(a.Token))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// pass returns the cookie's value. It proves knowledge of the token without containing it. It becomes invalid
// when the token changes.
func (a Access) pass() string {
	h := hmac.New(sha256.New, []byte(a.Token))
	h.Write([]byte("lockstep page"))
	return hex.EncodeToString(h.Sum(nil))
}

// cookie returns the cookie for users who have entered the token.
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

// forwarded reports whether a request seems to come through a proxy: it has a header that proxies add, or uses
// HTTP/1.0. nginx uses HTTP/1.0 for the servers to which it forwards; browsers never do.
// Sources: https://www.rfc-editor.org/rfc/rfc7239, https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_http_version
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
