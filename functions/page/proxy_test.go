package page

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
)

// proxied puts a reverse proxy on this machine before an address, which says nothing of
// whom it serves: with the line proxy_pass alone nginx is one.
func proxied(t *testing.T, target string) *httptest.Server {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(u)
		r.Out.Host = u.Host
	}})
	t.Cleanup(proxy.Close)
	return proxy
}

// TestProxyOnThisMachine holds that what comes through a proxy on this machine is not
// taken for somebody who sits at it.
func TestProxyOnThisMachine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		access Access
		token  string
		want   int
	}{
		{"no token", Access{Hosts: []string{"lockstep.example"}}, "", http.StatusForbidden},
		{"no token is given", Access{Hosts: []string{"lockstep.example"}, Token: testToken}, "", http.StatusUnauthorized},
		{"the token is given", Access{Hosts: []string{"lockstep.example"}, Token: testToken}, testToken, http.StatusOK},
	} {
		m := newMemory()
		s := serve(t, Handler{Site: talker{m}, Door: c.access})
		front := proxied(t, s.URL)
		signed := func(r *http.Request) {
			if c.token != "" {
				r.Header.Set("Authorization", "Bearer "+c.token)
			}
		}
		for _, path := range []string{"/", "/acme/infra/pull/7", "/acme/infra/pull/7/plan/network?raw"} {
			a := ask(t, "GET", front.URL+path, nil, signed)
			if a.status != c.want || c.want != http.StatusOK && (strings.Contains(a.body, "Two subnets") || strings.Contains(a.body, "network")) {
				t.Errorf("%s: %s: %d\n%s", c.name, path, a.status, a.body)
			}
		}
		if ask(t, "POST", front.URL+"/acme/infra/pull/7", url.Values{"do": {"close"}, "as": {"alice"}}, nil); len(m.actions) > 0 {
			t.Errorf("%s: it acts: %v", c.name, m.actions)
		}
	}
}

// TestProxyOfTheOldProtocol holds that nginx with proxy_pass alone, which speaks HTTP/1.0 to
// what is behind it, is known where no address is configured.
func TestProxyOfTheOldProtocol(t *testing.T) {
	t.Parallel()
	s := serve(t, Handler{Site: newMemory()})
	for _, c := range []struct{ proto, want string }{{"HTTP/1.0", " 403 "}, {"HTTP/1.1", " 200 "}} {
		host := strings.TrimPrefix(s.URL, "http://")
		conn, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Write([]byte("GET / " + c.proto + "\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		answer := make([]byte, 64)
		if n, err := conn.Read(answer); err != nil || !strings.Contains(string(answer[:n]), c.want) {
			t.Errorf("%s: %q %v", c.proto, answer[:n], err)
		}
	}
}
