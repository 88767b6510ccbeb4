package install

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
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/provider/install/cliconfig"
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
		_, _, err := c.document(t.Context(), parseURL(t, "https://user:s3cret@example.com/x?token=s3cret"), "")
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
	if _, _, err := c.document(ctx, parseURL(t, "https://example.com/"), ""); err == nil || tries != 1 {
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
	if err := c.download(t.Context(), parseURL(t, "https://example.com/"), f); err != nil {
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
		Token: func(host string) (cliconfig.Token, bool) {
			return cliconfig.NewToken("for-" + host), host == "example.com"
		},
		Transport: trip(func(r *http.Request) (*http.Response, error) {
			seen = append(seen, fmt.Sprintf("%s %s %s", r.URL, r.Header.Get("Authorization"), r.UserAgent()))
			return answer(200, "{}"), nil
		}),
	}
	for _, host := range []string{"example.com", "example.org", ""} {
		if _, _, err := c.document(t.Context(), parseURL(t, "https://api.example.com/"), host); err != nil {
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
		Token: func(string) (cliconfig.Token, bool) { return cliconfig.NewToken("s3cret"), true },
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
	_, final, err := c.document(t.Context(), parseURL(t, "https://example.com/"), "example.com")
	if err != nil || final.Host != "elsewhere.example.org" {
		t.Fatal(final, err)
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
	if _, _, err := c.document(t.Context(), parseURL(t, "https://example.com/"), ""); err == nil || !strings.Contains(err.Error(), "is larger than") {
		t.Errorf("got %v", err)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

func TestAddressesThatAreRefused(t *testing.T) {
	for text, refused := range map[string]bool{
		"169.254.169.254": true, "169.254.170.2": true, "fe80::1%eth0": true, "::ffff:169.254.169.254": true,
		"fd00:ec2::254": true, "224.0.0.1": true, "ff02::1": true,
		"127.0.0.1": false, "10.0.0.1": false, "::1": false, "2001:db8::1": false, "fd00::1": false,
	} {
		if err := checkIP(netip.MustParseAddr(text)); (err != nil) != refused {
			t.Errorf("%s: %v", text, err)
		}
	}
	// The transport checks what a name resolved to, when it connects.
	dial := SafeTransport().(*http.Transport).DialContext
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
		if err := checkURL(parseURL(t, text)); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestTokenVariable(t *testing.T) {
	if got := tokenVariable("my-host.example.com"); got != "TF_TOKEN_my__host_example_com" {
		t.Error(got)
	}
}

func TestNumber(t *testing.T) {
	for text, want := range map[string]int{"": 7, "3": 3, "0": 0, "-1": 7, "x": 7} {
		if got := number(text, 7); got != want {
			t.Errorf("%q: %d", text, got)
		}
	}
}

func TestPlatforms(t *testing.T) {
	for text, ok := range map[string]bool{"linux_amd64": true, "plan9_arm": true, "linux": false, "a_b_c": false, "../_x": false, "Linux_amd64": false, "": false} {
		p, err := ParsePlatform(text)
		if (err == nil) != ok || ok && p.String() != text {
			t.Errorf("%q: %v, %v", text, p, err)
		}
	}
}

func TestExecutableNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"terraform-provider-time":            true,
		"terraform-provider-time_v0.14.2":    true,
		"terraform-provider-time_v0.14.2_x5": true,
		"terraform-provider-time.exe":        true,
		"terraform-provider-time_v1.exe":     true,
		"terraform-provider-timeless":        false,
		"terraform-provider-time.sha256":     false,
		"time":                               false,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
		got, err := FindExecutable(dir, addrs.DefaultProvider("time"))
		if (err == nil) != ok || ok && got != filepath.Join(dir, name) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
