package githubtest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// asker asks a Hub without a client, as badly as a test wants.
type asker struct {
	hub *Hub
	url string
}

func newAsker(t *testing.T, h *Hub) asker {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return asker{h, server.URL}
}

func (a asker) ask(t *testing.T, method, path, auth, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, a.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", auth)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// sign proves to be an App with a key, in a time around now.
func sign(t *testing.T, issuer string, from, to time.Duration, key any, method jwt.SigningMethod) string {
	t.Helper()
	now := time.Now()
	s, err := jwt.NewWithClaims(method, jwt.RegisteredClaims{
		Issuer: issuer, IssuedAt: jwt.NewNumericDate(now.Add(from)), ExpiresAt: jwt.NewNumericDate(now.Add(to)),
	}).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return "Bearer " + s
}

func (a asker) app(t *testing.T) string {
	return sign(t, "4711", -time.Minute, 9*time.Minute, a.hub.key, jwt.SigningMethodRS256)
}

// installation returns a token of a repository's installation.
func (a asker) installation(t *testing.T, r *Repository, request string) string {
	t.Helper()
	status, text := a.ask(t, "POST", "/app/installations/"+number64(r.Installation())+"/access_tokens", a.app(t), request)
	var got struct{ Token string }
	if err := json.Unmarshal([]byte(text), &got); err != nil || status != http.StatusCreated {
		t.Fatalf("%d %s, %v", status, text, err)
	}
	return "token " + got.Token
}

// TestIdentity holds that the Hub is as strict as GitHub about who asks.
func TestIdentity(t *testing.T) {
	h := New(Options{})
	r := h.AddRepository("acme", "infra", Files{"a": "1"})
	a := newAsker(t, h)
	rs := jwt.SigningMethodRS256
	for name, test := range map[string]struct {
		auth string
		want int
	}{
		"good":           {a.app(t), 200},
		"none":           {"", 401},
		"another App":    {sign(t, "4712", -time.Minute, 9*time.Minute, h.key, rs), 401},
		"for too long":   {sign(t, "4711", -time.Minute, 11*time.Minute, h.key, rs), 401},
		"over":           {sign(t, "4711", -time.Hour, -time.Minute, h.key, rs), 401},
		"of the future":  {sign(t, "4711", time.Minute, 9*time.Minute, h.key, rs), 401},
		"another method": {sign(t, "4711", -time.Minute, 9*time.Minute, []byte("x"), jwt.SigningMethodHS256), 401},
	} {
		for _, path := range []string{"/app", "/app/installations", "/app/hook/deliveries"} {
			if got, text := a.ask(t, "GET", path, test.auth, ""); got != test.want {
				t.Errorf("%s, %s: %d %s", name, path, got, text)
			}
		}
	}
	if got, _ := a.ask(t, "POST", "/app/installations/1/access_tokens", a.app(t), "{}"); got != 404 {
		t.Errorf("no installation: %d", got)
	}
	for _, auth := range []string{"", "token x", a.app(t)} {
		if got, _ := a.ask(t, "GET", "/repos/"+r.String()+"/pulls/1", auth, ""); got != 401 {
			t.Errorf("%.10s: %d", auth, got)
		}
	}
	blind := a.installation(t, r, `{"permissions":{"metadata":"read"}}`)
	if got, _ := a.ask(t, "GET", "/installation/repositories", blind, ""); got != 200 {
		t.Errorf("the list of repositories: %d", got)
	}
	if got, _ := a.ask(t, "GET", "/repos/"+r.String()+"/contents/a", blind, ""); got != 403 {
		t.Errorf("a file, by a token that may list repositories: %d", got)
	}
}
