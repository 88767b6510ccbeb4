package github_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
	"github.com/lockstep-iac/lockstep/github/githubtest/contract"
)

// submit sends the form of a registration as a browser does, and returns the code in the answer.
func submit(t *testing.T, hub *githubtest.Hub, manifest map[string]any) string {
	t.Helper()
	text, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("POST", "https://github.com/organizations/acme/settings/apps/new?state=s", strings.NewReader(url.Values{"manifest": {string(text)}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	hub.ServeHTTP(w, r)
	to, err := url.Parse(w.Header().Get("Location"))
	if err != nil || w.Code != http.StatusFound || to.Query().Get("state") != "s" {
		t.Fatalf("%d %s, %v", w.Code, w.Body, err)
	}
	return to.Query().Get("code")
}

// TestRegister registers an App by a manifest, gives its webhooks an address, and has the first webhook
// delivered there: with our secret, and not with the one of the registration.
func TestRegister(t *testing.T) {
	hub := githubtest.New(githubtest.Options{})
	api := httptest.NewServer(hub)
	defer api.Close()
	config := github.AppConfig{URL: api.URL, Transport: contract.Transport{Base: http.DefaultTransport, Report: func(err error) { t.Error(err) }}}
	code := submit(t, hub, map[string]any{
		"name": "lockstep", "url": "https://example.com/", "redirect_url": "http://127.0.0.1:1/", "default_events": []string{"pull_request"},
		"hook_attributes": map[string]any{"url": "https://example.com/not-yet"}, "default_permissions": map[string]string{"checks": "write"},
	})
	r, err := github.CompleteRegistration(t.Context(), config, code)
	if err != nil || r.ID != 4711 || r.Slug != "lockstep" {
		t.Fatal(r, err)
	}
	if _, err := github.CompleteRegistration(t.Context(), config, code); !errors.Is(err, github.ErrRegistrationCode) {
		t.Errorf("a code is good twice: %v", err)
	}
	if _, err := github.CompleteRegistration(t.Context(), config, "../app"); err == nil || errors.Is(err, github.ErrRegistrationCode) {
		t.Errorf("a code with a path is sent: %v", err)
	}
	kept := ""
	if err := r.KeepKey(func(pem string) error { kept = pem; return nil }); err != nil || kept != hub.AppKey() {
		t.Errorf("kept %q, %v", kept, err)
	}
	config.ID, config.Key = r.ID, r.Key()
	a, err := github.NewApp(config)
	if err != nil {
		t.Fatal(err)
	}
	about, err := a.About(t.Context())
	if err != nil || about.Permissions["checks"] != "write" || len(about.Permissions) != 1 || len(about.Events) == 0 {
		t.Errorf("%+v, %v", about, err)
	}
	secret := github.NewSecret("ours")
	got := 0
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := github.ReadPayload(r.Body)
		if err == nil {
			_, err = github.ReadDelivery(r.Header, body, secret)
		}
		if err != nil {
			t.Error(err)
		}
		got++
	}))
	defer hook.Close()
	hub.LoseDeliveries(1)
	if _, err := hub.Deliver(t.Context()); err != nil { // the ping, to the address that does not exist
		t.Fatal(err)
	}
	if err := a.SetHook(t.Context(), hook.URL, secret); err != nil {
		t.Fatal(err)
	}
	if at, err := a.HookURL(t.Context()); at != hook.URL || err != nil {
		t.Error(at, err)
	}
	list, err := a.Deliveries(t.Context(), time.Time{})
	if err != nil || len(list) != 1 || list[0].Event != "ping" || list[0].OK {
		t.Fatal(list, err)
	}
	if err := a.Redeliver(t.Context(), list[0].ID); err != nil {
		t.Fatal(err)
	}
	if n, err := hub.Deliver(t.Context()); n != 1 || err != nil || got != 1 {
		t.Error(n, err, got)
	}
	if list, err = a.Deliveries(t.Context(), time.Time{}); err != nil || len(list) != 2 || !list[0].OK {
		t.Error(list, err)
	}
}
