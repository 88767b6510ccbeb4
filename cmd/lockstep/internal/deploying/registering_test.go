package deploying

import (
	"context"
	"encoding/json"
	"errors"
	"html"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
)

// getPage asks for a page, under a name of the host if there is one.
func getPage(t *testing.T, address, host string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var text strings.Builder
	buf := make([]byte, 64<<10)
	for {
		n, err := res.Body.Read(buf)
		text.Write(buf[:n])
		if err != nil {
			return res.StatusCode, text.String()
		}
	}
}

var manifestFields = regexp.MustCompile(`action="([^"]+)".*value="([^"]+)"`)

// TestCode plays the browser, and others who try to give the answer in its place.
func TestCode(t *testing.T) {
	pages := make(chan string, 1)
	codes, errs := make(chan string, 1), make(chan error, 1)
	r := appRegistration{Site: "https://github.example/", Owner: "acme", Name: "lockstep-acme", Show: func(a string) { pages <- a }}
	go func() {
		code, err := r.Code(t.Context())
		codes <- code
		errs <- err
	}()
	page := <-pages
	u, err := url.Parse(page)
	if err != nil || u.Hostname() != "127.0.0.1" {
		t.Fatal(page, err)
	}
	base := "http://" + u.Host
	for attack, got := range map[string]func() (int, string){
		"the page under another path":         func() (int, string) { return getPage(t, base+"/", "") },
		"the page under another name":         func() (int, string) { return getPage(t, page, "evil.example:80") },
		"an answer without the state":         func() (int, string) { return getPage(t, base+"/registered?code=evil", "") },
		"an answer with another state":        func() (int, string) { return getPage(t, base+"/registered?code=evil&state=x", "") },
		"an answer under another name":        func() (int, string) { return getPage(t, base+"/registered?code=evil&state=x", "evil.example") },
		"an answer with the name of the page": func() (int, string) { return getPage(t, base+"/registered?code=evil&state="+u.Path[1:], "") },
	} {
		if status, text := got(); status/100 != 4 || strings.Contains(text, "manifest") {
			t.Errorf("%s: %d %s", attack, status, text)
		}
	}
	status, text := getPage(t, page, "")
	m := manifestFields.FindStringSubmatch(text)
	if status != 200 || m == nil {
		t.Fatal(status, text)
	}
	action, err := url.Parse(html.UnescapeString(m[1]))
	if err != nil || action.Host != "github.example" || action.Path != "/organizations/acme/settings/apps/new" {
		t.Fatal(m[1], err)
	}
	var x struct {
		Redirect string `json:"redirect_url"`
		Public   bool
		Name     string
	}
	if err := json.Unmarshal([]byte(html.UnescapeString(m[2])), &x); err != nil || x.Redirect != base+"/registered" || x.Public || x.Name != r.Name {
		t.Error(x, err)
	}
	if status, text := getPage(t, x.Redirect+"?code=c0de&state="+action.Query().Get("state"), ""); status != 200 || !strings.Contains(text, "is registered") {
		t.Error(status, text)
	}
	if code, err := <-codes, <-errs; code != "c0de" || err != nil {
		t.Error(code, err)
	}
	if own := (appRegistration{Site: "https://github.com"}).action("s"); own != "https://github.com/settings/apps/new?state=s" {
		t.Error(own)
	}
}

// silence is a listener to which nobody connects.
type silence chan struct{}

func (s silence) Accept() (net.Conn, error) { <-s; return nil, net.ErrClosed }
func (s silence) Close() error              { close(s); return nil }
func (s silence) Addr() net.Addr            { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// TestNobody holds that waiting ends: after an hour, and with an interruption.
func TestNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if _, err := (appRegistration{Show: func(string) {}}).wait(t.Context(), make(silence)); !errors.Is(err, errRegisterTime) {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("interrupted")
	if _, err := (appRegistration{Show: func(string) { cancel(stopped) }}).Code(ctx); !errors.Is(err, stopped) {
		t.Error(err)
	}
}
