package page

import (
	"context"
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
// Without a Token, only users of this machine may see them. The connection must come from this machine, without
// a proxy, and the Host header must name this machine. (Otherwise, any website could make its own name lead
// here, and read the pages.) A proxy on this machine may not be recognizable. So if Hosts are set, which only a
// proxy can serve, no request counts as local.
//
// With a Token, everybody who knows it may see the pages.
type Access struct {
	// Token is the token that users must enter, at least [ShortestToken] bytes long; "" if there is none.
	Token string
	// Hosts are additional host names of the pages, with the port if there is one. They need a Token: without
	// one, requests to them are refused.
	Hosts []string
	// Secure is set if browsers reach the pages by https, through a proxy. The cookie then gets the attribute
	// Secure.
	Secure bool
}

// ShortestToken is the minimum length of a token in bytes: 128 bits in hexadecimal.
const ShortestToken = 32

const (
	signInPath = "/sign-in"
	cookieName = "lockstep-page"
	cookieLife = 12 * time.Hour
)

// Enter implements [Door].
func (a Access) Enter(r *http.Request) (context.Context, *Refusal) {
	if no := a.check(r); no != nil {
		return nil, no
	}
	return r.Context(), nil
}

// Serve implements [Door]: users enter the token at signInPath.
func (a Access) Serve(mux *http.ServeMux, h Handler) {
	mux.HandleFunc("POST "+signInPath, func(w http.ResponseWriter, r *http.Request) {
		if no := a.check(r); no != nil && no.Form == NoForm {
			h.Refuse(w, r, *no)
			return
		}
		if a.Token == "" || !a.isToken(strings.TrimSpace(r.PostFormValue("token"))) {
			h.Refuse(w, r, Refusal{Status: http.StatusUnauthorized, Form: TokenForm, Notice: "That is not the token."})
			return
		}
		http.SetCookie(w, a.cookie())
		http.Redirect(w, r, "/", http.StatusSeeOther)
	})
}

// check decides whether to answer a request. nil means yes.
func (a Access) check(r *http.Request) *Refusal {
	if !isLocalName(r.Host) && !slices.Contains(a.Hosts, strings.ToLower(r.Host)) {
		return &Refusal{Status: http.StatusMisdirectedRequest, Reason: "This page is not served under that name."}
	}
	if a.Token != "" {
		if a.signedIn(r) {
			return nil
		}
		return &Refusal{Status: http.StatusUnauthorized, Form: TokenForm}
	}
	if len(a.Hosts) > 0 || !isLocalAddress(r.RemoteAddr) || forwarded(r) {
		return &Refusal{Status: http.StatusForbidden, Reason: "Without a token this page is shown on its own machine only."}
	}
	return nil
}

// signedIn reports whether a request contains the token, or the cookie of a user who has entered it.
func (a Access) signedIn(r *http.Request) bool {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return a.isToken(token)
	}
	c, err := r.Cookie(cookieName)
	return err == nil && subtle.ConstantTimeCompare([]byte(c.Value), []byte(a.pass())) == 1
}

// isToken reports whether s is the token. It compares hashes, so that the time reveals nothing, not even the
// length.
func (a Access) isToken(s string) bool {
	got, want := sha256.Sum256([]byte(s)), sha256.Sum256([]byte(a.Token))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// pass returns the value of the cookie. It proves that the user knows the token, but does not contain it. A new
// token makes it invalid.
func (a Access) pass() string {
	h := hmac.New(sha256.New, []byte(a.Token))
	h.Write([]byte("lockstep page"))
	return hex.EncodeToString(h.Sum(nil))
}

// cookie returns the cookie that a user gets after entering the token.
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
// HTTP/1.0. nginx uses HTTP/1.0 when it forwards requests; browsers never do. Sources:
// https://www.rfc-editor.org/rfc/rfc7239,
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
