package github_test

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
	"github.com/lockstep-iac/lockstep/github/githubtest/contract"
)

const callback = "https://lockstep.example/signed-in"

// A visitor signs in on a Hub.
type visitor struct {
	t   *testing.T
	hub *githubtest.Hub
	*github.SignIn
}

func newVisitor(t *testing.T) visitor {
	t.Helper()
	hub := githubtest.New(githubtest.Options{})
	server := httptest.NewServer(hub)
	t.Cleanup(server.Close)
	hub.SetCallback(callback)
	s, err := github.NewSignIn(github.SignInConfig{
		ClientID: github.NewSecret(githubtest.ClientID), ClientSecret: github.NewSecret(hub.ClientSecret()), URL: server.URL,
		Transport: contract.Transport{Base: http.DefaultTransport, Report: func(err error) { t.Error(err) }, Ignore: func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/login/") }},
	})
	if err != nil {
		t.Fatal(err)
	}
	return visitor{t, hub, s}
}

const verifier = "a verifier of at least forty-three characters, as the standard has it"

// code has a person agree, and returns the code in GitHub's answer.
func (v visitor) code(login string) string {
	v.t.Helper()
	v.hub.Browse(login)
	sum := sha256.Sum256([]byte(verifier))
	page, err := url.Parse(v.Page(callback, "the state", base64.RawURLEncoding.EncodeToString(sum[:])))
	if err != nil {
		v.t.Fatal(err)
	}
	w := httptest.NewRecorder()
	v.hub.ServeHTTP(w, httptest.NewRequest("GET", page.RequestURI(), nil))
	to, err := url.Parse(w.Header().Get("Location"))
	if err != nil || !strings.HasPrefix(to.String(), callback) || to.Query().Get("state") != "the state" {
		v.t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	return to.Query().Get("code")
}

// TestSignIn holds that a person's token reads what the person may read, and nothing else.
func TestSignIn(t *testing.T) {
	t.Parallel()
	v := newVisitor(t)
	open, closed := v.hub.AddRepository("acme", "infra", nil), v.hub.AddRepository("acme", "shop", nil)
	closed.SetPrivate()
	closed.Grant("alice", "read")
	open.Grant("alice", "read")
	for i := range 130 {
		v.hub.AddRepository("other", fmt.Sprintf("r%d", i), nil).Grant("alice", "write")
	}
	token, err := v.Exchange(t.Context(), callback, v.code("alice"), verifier)
	if err != nil || token.Life.Hours() != 8 {
		t.Fatal(token, err)
	}
	alice := v.User(token.Token)
	if login, err := alice.Login(t.Context()); err != nil || login != "alice" {
		t.Errorf("%q, %v", login, err)
	}
	if r, err := alice.Repository(t.Context(), "Acme", "Shop"); err != nil || r != closed.Repo() {
		t.Errorf("%v, %v", r, err)
	}
	if all, err := alice.Repositories(t.Context()); err != nil || len(all) != 132 {
		t.Errorf("%d, %v", len(all), err)
	}
	token, err = v.Exchange(t.Context(), callback, v.code("mallory"), verifier)
	if err != nil {
		t.Fatal(err)
	}
	mallory := v.User(token.Token)
	for _, name := range []string{"shop", "missing", "..", "a b", "infra/../shop", ""} {
		if r, err := mallory.Repository(t.Context(), "acme", name); !errors.Is(err, github.ErrNotFound) {
			t.Errorf("%q: %v, %v", name, r, err)
		}
	}
	if r, err := mallory.Repository(t.Context(), "acme", "infra"); err != nil || r != open.Repo() {
		t.Errorf("%v, %v", r, err)
	}
	if all, err := mallory.Repositories(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
	for range 2 {
		if err := v.Revoke(t.Context(), token.Token); err != nil {
			t.Errorf("end the sign-in: %v", err)
		}
	}
	if _, err := mallory.Repository(t.Context(), "acme", "infra"); !errors.Is(err, github.ErrSignedOut) {
		t.Errorf("after the end: %v", err)
	}
}

// TestSignInCode carries out attacks with codes.
func TestSignInCode(t *testing.T) {
	t.Parallel()
	v := newVisitor(t)
	code := v.code("alice")
	for name, try := range map[string]func() error{
		"made up":              func() error { _, err := v.Exchange(t.Context(), callback, "made-up", verifier); return err },
		"with another purpose": func() error { _, err := v.Exchange(t.Context(), callback, v.code("alice"), verifier+"!"); return err },
		"of another address":   func() error { _, err := v.Exchange(t.Context(), callback+"/x", v.code("alice"), verifier); return err },
		"used before": func() error {
			if _, err := v.Exchange(t.Context(), callback, code, verifier); err != nil {
				return err
			}
			_, err := v.Exchange(t.Context(), callback, code, verifier)
			return err
		},
	} {
		if err := try(); !errors.Is(err, github.ErrSignInCode) {
			t.Errorf("%s: %v", name, err)
		}
	}
	wrong, err := github.NewSignIn(github.SignInConfig{ClientID: github.NewSecret("other"), ClientSecret: github.NewSecret("swordfish"), URL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := wrong.Exchange(t.Context(), callback, "code", verifier); err == nil || strings.Contains(err.Error(), "swordfish") || strings.Contains(err.Error(), "code=") {
		t.Errorf("%v", err)
	}
}

// TestWebURL is a table of addresses of APIs.
func TestWebURL(t *testing.T) {
	t.Parallel()
	for api, want := range map[string]string{
		"https://api.github.com/": "https://github.com", "https://github.acme.example/api/v3/": "https://github.acme.example",
		"https://api.acme.ghe.com": "https://acme.ghe.com", "http://127.0.0.1:81": "http://127.0.0.1:81", "http://github.acme.example/api/v3/": "", "ftp://x": "", "https://acme.example": "",
	} {
		if got := github.WebURL(api); got != want {
			t.Errorf("%s: %q, want %q", api, got, want)
		}
	}
}
