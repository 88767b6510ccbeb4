package githubtest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
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
	res, err := http.DefaultTransport.RoundTrip(req)
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

// app returns the App's proof of its identity.
func (a asker) app(t *testing.T) string {
	t.Helper()
	key, err := jwt.ParseRSAPrivateKeyFromPEM([]byte(a.hub.AppKey()))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	text, err := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.RegisteredClaims{
		Issuer: "4711", IssuedAt: jwt.NewNumericDate(now.Add(-time.Minute)), ExpiresAt: jwt.NewNumericDate(now.Add(9 * time.Minute)),
	}).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return "Bearer " + text
}

// installation returns a token of a repository's installation.
func (a asker) installation(t *testing.T, r *Repository, request string) string {
	t.Helper()
	status, text := a.ask(t, "POST", "/app/installations/"+strconv.FormatInt(r.Installation(), 10)+"/access_tokens", a.app(t), request)
	var got struct{ Token string }
	if err := json.Unmarshal([]byte(text), &got); err != nil || status != http.StatusCreated {
		t.Fatalf("%d %s, %v", status, text, err)
	}
	return "token " + got.Token
}

// TestIdentity holds which requests are the App's, and which an installation's.
func TestIdentity(t *testing.T) {
	h := New(Options{})
	r := h.AddRepository("acme", "infra", Files{"a": "1"})
	other := h.AddRepository("other", "infra", Files{"a": "1"})
	public := r.Fork("eve")
	r.SetPrivate()
	a := newAsker(t, h)
	app, all := a.app(t), a.installation(t, r, "{}")
	blind := a.installation(t, r, `{"permissions":{"metadata":"read"}}`)
	reads := a.installation(t, r, `{"permissions":{"contents":"read"}}`)
	for request, want := range map[string][5]int{ // by nobody, the App, tokens for all, for metadata, for contents
		"GET /app":                                        {401, 200, 401, 401, 401},
		"GET /app/installations":                          {401, 200, 401, 401, 401},
		"POST /app-manifests/x/conversions":               {404, 404, 404, 404, 404},
		"GET /app/hook/config":                            {401, 200, 401, 401, 401},
		"PATCH /app/hook/config":                          {401, 200, 401, 401, 401},
		"GET /app/hook/deliveries":                        {401, 200, 401, 401, 401},
		"GET /app/hook/deliveries/1":                      {401, 404, 401, 401, 401},
		"POST /app/hook/deliveries/1/attempts":            {401, 404, 401, 401, 401},
		"POST /app/installations/1/access_tokens":         {401, 404, 401, 401, 401},
		"GET /installation/repositories":                  {401, 401, 200, 200, 200},
		"GET /repos/acme/infra/pulls":                     {401, 401, 200, 403, 403},
		"GET /repos/acme/infra/contents/a":                {401, 401, 200, 403, 200},
		"GET /repos/acme/infra/issues/comments":           {401, 401, 200, 403, 403},
		"GET /repos/" + other.String() + "/pulls":         {401, 401, 404, 404, 404},
		"GET /repos/nobody/infra/pulls":                   {401, 401, 404, 404, 404},
		"GET /repos/acme/infra/tarball/main":              {404, 401, 302, 403, 302},
		"GET /repos/" + public.String() + "/tarball/main": {302, 401, 404, 404, 404},
		"GET /nothing":                                    {404, 404, 404, 404, 404},
	} {
		method, path, _ := strings.Cut(request, " ")
		for i, auth := range []string{"", app, all, blind, reads} {
			if got, text := a.ask(t, method, path, auth, "{}"); got != want[i] {
				t.Errorf("%s, %d: %d %s, want %d", request, i, got, text, want[i])
			}
		}
	}
	h.ExpireTokens()
	if got, _ := a.ask(t, "GET", "/installation/repositories", all, ""); got != 401 {
		t.Errorf("by an ended token: %d", got)
	}
	if len(h.Given()) < 3 {
		t.Errorf("given: %d secrets", len(h.Given()))
	}
}
