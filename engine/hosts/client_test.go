package hosts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A trip answers requests without a network.
type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := f(r)
	if resp != nil {
		resp.Request = r
	}
	return resp, err
}

func answer(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

func parseURL(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestRetries(t *testing.T) {
	for _, test := range []struct {
		name  string
		fail  func(*http.Request) (*http.Response, error)
		tries int
	}{
		{"a broken connection", func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }, 4},
		{"a server in trouble", func(*http.Request) (*http.Response, error) { return answer(502, ""), nil }, 4},
		{"too many requests", func(*http.Request) (*http.Response, error) { return answer(429, ""), nil }, 4},
		{"not found", func(*http.Request) (*http.Response, error) { return answer(404, ""), nil }, 1},
		{"forbidden", func(*http.Request) (*http.Response, error) { return answer(403, ""), nil }, 1},
		{"a redirect to http", func(*http.Request) (*http.Response, error) {
			resp := answer(302, "")
			resp.Header.Set("Location", "http://example.com/")
			return resp, nil
		}, 1},
	} {
		tries := 0
		c := &Client{Retries: 3, Backoff: time.Microsecond, Transport: trip(func(r *http.Request) (*http.Response, error) {
			tries++
			return test.fail(r)
		})}
		_, err := c.Document(t.Context(), parseURL(t, "https://user:s3cret@example.com/x?token=s3cret"), "")
		if err == nil || tries != test.tries {
			t.Errorf("%s: %d tries, %v", test.name, tries, err)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: a secret was shown: %v", test.name, err)
		}
	}
}

func TestRetryingEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tries := 0
	c := &Client{Retries: 3, Backoff: time.Hour, Transport: trip(func(r *http.Request) (*http.Response, error) {
		tries++
		cancel()
		return answer(500, ""), nil
	})}
	if _, err := c.Document(ctx, parseURL(t, "https://example.com/"), ""); err == nil || tries != 1 {
		t.Errorf("%d tries, %v", tries, err)
	}
}

func TestADownloadStartsAgainFromTheStart(t *testing.T) {
	bodies := []io.Reader{
		io.MultiReader(strings.NewReader("a longer first part"), errorReader{}),
		strings.NewReader("the whole"),
	}
	c := &Client{Retries: 1, Backoff: time.Microsecond, Transport: trip(func(r *http.Request) (*http.Response, error) {
		resp := answer(200, "")
		resp.Body = io.NopCloser(bodies[0])
		bodies = bodies[1:]
		return resp, nil
	})}
	f, err := os.Create(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := c.Download(t.Context(), parseURL(t, "https://example.com/"), f); err != nil {
		t.Fatal(err)
	}
	if content, _ := os.ReadFile(f.Name()); string(content) != "the whole" {
		t.Errorf("got %q", content)
	}
}

type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestRequestsCarryTheHostsToken(t *testing.T) {
	var seen []string
	c := &Client{
		UserAgent: "test/1",
		Token: func(host string) (Token, bool) {
			return NewToken("for-" + host), host == "example.com"
		},
		Transport: trip(func(r *http.Request) (*http.Response, error) {
			seen = append(seen, fmt.Sprintf("%s %s %s", r.URL, r.Header.Get("Authorization"), r.UserAgent()))
			return answer(200, "{}"), nil
		}),
	}
	for _, host := range []string{"example.com", "example.org", ""} {
		if _, err := c.Document(t.Context(), parseURL(t, "https://api.example.com/"), host); err != nil {
			t.Error(err)
		}
	}
	want := "https://api.example.com/ Bearer for-example.com test/1|https://api.example.com/  test/1|https://api.example.com/  test/1"
	if got := strings.Join(seen, "|"); got != want {
		t.Errorf("got %s", got)
	}
}

func TestATokenDoesNotFollowARedirectElsewhere(t *testing.T) {
	var seen []string
	c := &Client{
		Token: func(string) (Token, bool) { return NewToken("s3cret"), true },
		Transport: trip(func(r *http.Request) (*http.Response, error) {
			seen = append(seen, r.URL.Host+" "+r.Header.Get("Authorization"))
			if r.URL.Host == "example.com" {
				resp := answer(302, "")
				resp.Header.Set("Location", "https://elsewhere.example.org/")
				return resp, nil
			}
			return answer(200, "{}"), nil
		}),
	}
	doc, err := c.Document(t.Context(), parseURL(t, "https://example.com/"), "example.com")
	if err != nil || doc.URL.Host != "elsewhere.example.org" {
		t.Fatal(doc.URL, err)
	}
	if got := strings.Join(seen, "|"); got != "example.com Bearer s3cret|elsewhere.example.org " {
		t.Errorf("got %s", got)
	}
}

func TestDocumentsAreBounded(t *testing.T) {
	c := &Client{Retries: 3, Transport: trip(func(*http.Request) (*http.Response, error) {
		resp := answer(200, "")
		resp.Body = io.NopCloser(io.LimitReader(endless{}, maxDocument*2))
		return resp, nil
	})}
	if _, err := c.Document(t.Context(), parseURL(t, "https://example.com/"), ""); err == nil || !strings.Contains(err.Error(), "is larger than") {
		t.Errorf("got %v", err)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

var everywhere Policy

func TestAddressesThatAreRefused(t *testing.T) {
	for text, refused := range map[string]bool{
		"169.254.169.254": true, "169.254.170.2": true, "fe80::1%eth0": true, "::ffff:169.254.169.254": true,
		"fd00:ec2::254": true, "fd00:ec2::23": true, "::169.254.169.254": true, "224.0.0.1": true, "ff02::1": true,
		"127.0.0.1": false, "10.0.0.1": false, "::1": false, "2001:db8::1": false, "fd00::1": false,
	} {
		if err := everywhere.reachOf("").checkIP(netip.MustParseAddr(text)); (err != nil) != refused {
			t.Errorf("%s: %v", text, err)
		}
	}
	// The transport checks what a name resolved to, when it connects.
	dial := everywhere.Transport().(*http.Transport).DialContext
	conn, err := dial(t.Context(), "tcp", "169.254.169.254:443")
	var refused *refusedError
	if conn != nil || !errors.As(err, &refused) {
		t.Errorf("got %v, %v", conn, err)
	}
	if mayPass(fmt.Errorf("connect: %w", err)) {
		t.Error("it will not pass the next time")
	}
	for text, want := range map[string]bool{
		"https://example.com/": true, "http://example.com/": false, "file:///etc/passwd": false, "https:///x": false,
		"https://[fe80::1]/": false, "ftp://example.com": false, "": false,
	} {
		if err := everywhere.CheckURL(parseURL(t, text)); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestTokenVariable(t *testing.T) {
	if got := TokenVariable("my-host.example.com"); got != "TF_TOKEN_my__host_example_com" {
		t.Error(got)
	}
}

func TestPolicies(t *testing.T) {
	everyone := Policy{PublicOnly: true, HTTP: true, Host: func(name string) error {
		if name == "evil.example.com" {
			return errors.New("it is not among those that may be asked")
		}
		return nil
	}}
	for text, want := range map[string]string{
		"https://example.com/x":         "",
		"http://example.com/x":          "",
		"https://10.0.0.1/":             "private network",
		"https://127.0.0.1:8443/":       "private network",
		"https://[::1]/":                "private network",
		"https://[fd00::1]/":            "private network",
		"https://100.64.0.1/":           "private network",
		"https://0.0.0.0/":              "link-local",
		"http://169.254.169.254/":       "link-local",
		"https://evil.example.com/?x=y": "is not among those",
		"https://EVIL.example.com/":     "is not among those",
		"https://[64:ff9b::a9fe:a9fe]/": "link-local",
		"https://[64:ff9b::a00:1]/":     "private network",
		"https://[64:ff9b::808:808]/":   "",
		"https://[2002:7f00:1::]/":      "private network",
		"https://[::ffff:10.0.0.1]/":    "private network",
		"https://[::127.0.0.1]/":        "private network",
		"https://[::169.254.169.254]/":  "link-local",
		"https://[2001::f5ff:fffe]/":    "private network",
		"https://[64:ff9b:1::a00:1]/":   "private network",
		"https://[2001:4860::8888]/":    "",
		"https://198.18.0.1/":           "private network",
		"https://255.255.255.255/":      "private network",
		"ftp://example.com/":            "only https",
	} {
		err := everyone.CheckURL(parseURL(t, text))
		if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) && want != "" {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	named := Policy{PublicOnly: true, Private: func(name string) bool {
		return slices.Contains([]string{"git.corp.example", "10.0.0.1", "127.0.0.1", "169.254.169.254", "64:ff9b::7f00:1"}, name)
	}}
	for text, want := range map[string]string{
		"https://10.0.0.1/": "", "https://10.0.0.2/": "private network", "https://GIT.corp.example/": "",
		"https://127.0.0.1/": "private network", "https://169.254.169.254/": "link-local", "https://[64:ff9b::7f00:1]/": "private network",
	} {
		if err := named.CheckURL(parseURL(t, text)); want == "" && err != nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for name, want := range map[string]reach{"git.corp.example": alsoPrivate, "Git.Corp.Example": alsoPrivate, "example.com": public} {
		if got := named.reachOf(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	conn, err := everyone.Transport().(*http.Transport).DialContext(t.Context(), "tcp", "127.0.0.1:1")
	if refused := (*refusedError)(nil); conn != nil || !errors.As(err, &refused) {
		t.Errorf("connected to %v, %v", conn, err)
	}
}

// TestProxies holds that a proxy of the environment may be in a private network, or here, and that no other address is
// reached for it.
func TestProxies(t *testing.T) {
	for proxy, want := range map[string]string{"http://10.0.0.1:3128": "10.0.0.1:3128", "http://proxy": "proxy:80", "https://proxy": "proxy:443", "socks5://[::1]": "[::1]:1080"} {
		if got := dialed(parseURL(t, proxy)); got != want {
			t.Errorf("%s: %s", proxy, got)
		}
	}
}
