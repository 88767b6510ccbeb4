package page

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

const testToken = "0123456789abcdef0123456789abcdef"

func TestAccess(t *testing.T) {
	t.Parallel()
	open, named := Access{}, Access{Hosts: []string{"lockstep.example"}}
	closed := Access{Token: testToken, Hosts: named.Hosts}
	for _, c := range []struct {
		name         string
		access       Access
		host, remote string
		header       map[string]string
		want         int
	}{
		{"this machine", open, "127.0.0.1:8080", "127.0.0.1:999", nil, 0},
		{"this machine, by name", open, "localhost:8080", "127.0.0.1:999", nil, 0},
		{"this machine, version 6", open, "[::1]:8080", "[::1]:999", nil, 0},
		{"a name that points here", open, "evil.example:8080", "127.0.0.1:999", nil, 421},
		{"a name that begins like ours", open, "127.0.0.1.evil.example", "127.0.0.1:999", nil, 421},
		{"no name", open, "", "127.0.0.1:999", nil, 421},
		{"another machine", open, "127.0.0.1:8080", "192.0.2.7:999", nil, 403},
		{"through a proxy", open, "127.0.0.1:8080", "127.0.0.1:999", map[string]string{"X-Forwarded-For": "192.0.2.7"}, 403},
		{"through another", open, "localhost", "127.0.0.1:999", map[string]string{"Forwarded": "for=192.0.2.7"}, 403},
		{"through one that is another's", open, "localhost", "127.0.0.1:999", map[string]string{"Cf-Connecting-Ip": "192.0.2.7"}, 403},
		{"through one that names itself", open, "localhost", "127.0.0.1:999", map[string]string{"Via": "1.1 proxy"}, 403},
		{"another machine, by version 6", open, "[::1]:8080", "[2001:db8::7]:999", nil, 403},
		{"no address", open, "localhost", "@", nil, 403},

		{"a proxy's name, and no token", named, "lockstep.example", "127.0.0.1:999", nil, 403},
		{"a proxy that hides, and no token", named, "127.0.0.1:8080", "127.0.0.1:999", nil, 403},
		{"no token, from elsewhere", named, "lockstep.example", "192.0.2.7:999", nil, 403},
		{"no token is not any token", named, "lockstep.example", "127.0.0.1:999", map[string]string{"Authorization": "Bearer "}, 403},

		{"without the token", closed, "lockstep.example", "192.0.2.7:999", nil, 401},
		{"without it, on this machine", closed, "localhost:8080", "127.0.0.1:999", nil, 401},
		{"with the token", closed, "Lockstep.Example", "192.0.2.7:999", map[string]string{"Authorization": "Bearer " + testToken}, 0},
		{"with another", closed, "lockstep.example", "192.0.2.7:999", map[string]string{"Authorization": "Bearer " + testToken + "0"}, 401},
		{"with none", closed, "lockstep.example", "192.0.2.7:999", map[string]string{"Authorization": "Bearer "}, 401},
		{"with the token as a cookie", closed, "lockstep.example", "192.0.2.7:999", map[string]string{"Cookie": cookieName + "=" + testToken}, 401},
		{"with the cookie", closed, "lockstep.example", "192.0.2.7:999", map[string]string{"Cookie": cookieName + "=" + closed.pass()}, 0},
		{"with the token, under another name", closed, "evil.example", "192.0.2.7:999", map[string]string{"Authorization": "Bearer " + testToken}, 421},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host, r.RemoteAddr = c.host, c.remote
		for k, v := range c.header {
			r.Header.Set(k, v)
		}
		if got := c.access.check(r); (got != nil) != (c.want != 0) || got != nil && got.Status != c.want {
			t.Errorf("%s: %+v, want %d", c.name, got, c.want)
		}
	}
}

// Nothing but the sign-in page and what it looks like is there without the token.
func TestEverythingIsGuarded(t *testing.T) {
	t.Parallel()
	m := newMemory()
	s := serve(t, Handler{Site: talker{m}, Door: Access{Token: testToken}, Metrics: numbers})
	const pull = "/acme/infra/pull/7"
	for _, path := range []string{"/", pull, pull + "/checks", pull + "/files", pull + "/projects", pull + "/plan/network", pull + "/plan/network?raw", pull + "/steps/network?raw", "/events", "/x", "/metrics"} {
		if a := ask(t, "GET", s.URL+path, nil, nil); a.status != 401 || strings.Contains(a.body, "lockstep_") || strings.Contains(a.body, "subnets") || strings.Contains(a.body, "network") {
			t.Errorf("%s: %d\n%s", path, a.status, a.body)
		}
	}
	if a := ask(t, "POST", s.URL+pull, url.Values{"do": {"close"}, "as": {"alice"}}, nil); a.status != 401 || len(m.actions) > 0 {
		t.Errorf("POST: %d", a.status)
	}
	token := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+testToken) }
	if a := ask(t, "GET", s.URL+"/metrics", nil, token); a.status != 200 || a.body != "lockstep_messages_total 1\n" {
		t.Errorf("/metrics with the token: %d %s", a.status, a.body)
	}
}

// numbers are measurements.
var numbers = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "lockstep_messages_total 1\n") })

func TestSignIn(t *testing.T) {
	t.Parallel()
	s := serve(t, Handler{Site: newMemory(), Door: Access{Token: testToken, Secure: true}})
	if a := ask(t, "POST", s.URL+signInPath, url.Values{"token": {"guess"}}, nil); a.status != 401 || a.header.Get("Set-Cookie") != "" {
		t.Errorf("a guess: %d %v", a.status, a.header)
	}
	a := ask(t, "POST", s.URL+signInPath, url.Values{"token": {testToken + "\n"}}, nil)
	cookie := a.header.Get("Set-Cookie")
	if a.status != http.StatusSeeOther || strings.Contains(cookie, testToken) {
		t.Fatalf("%d %v", a.status, a.header)
	}
	for _, want := range []string{"HttpOnly", "Secure", "SameSite=Strict"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie is not %s: %s", want, cookie)
		}
	}
	in := ask(t, "GET", s.URL+"/", nil, func(r *http.Request) { r.Header.Set("Cookie", strings.Split(cookie, ";")[0]) })
	if in.status != 200 || !strings.Contains(in.body, "Two subnets") {
		t.Errorf("%d %s", in.status, in.body)
	}
	// Where there is no token, none opens anything.
	open := serve(t, Handler{Site: newMemory()})
	if a := ask(t, "POST", open.URL+signInPath, url.Values{"token": {""}}, nil); a.status != 401 {
		t.Errorf("without a token: %d", a.status)
	}
}
