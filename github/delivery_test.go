package github_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestDeliveries holds that a webhook which got lost is found, with what was in it.
func TestDeliveries(t *testing.T) {
	s := newSetting(t)
	received := map[string]int{}
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		received[r.Header.Get(github.DeliveryHeader)]++
	}))
	t.Cleanup(hook.Close)
	s.hub.SetWebhook(hook.URL)
	deliver := func() {
		t.Helper()
		if _, err := s.hub.Deliver(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	deliver()
	start := s.hub.Now().Add(time.Second)
	for i := range 120 { // more than one page
		s.repo.Comment("alice", 1, fmt.Sprint("chat ", i))
	}
	deliver()
	s.hub.LoseDeliveries(1)
	s.repo.Comment("alice", 1, "lockstep plan")
	at := s.hub.Now()
	s.repo.Close("alice", 1)
	deliver()

	list, err := s.app.Deliveries(t.Context(), start)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 122 {
		t.Fatalf("%d deliveries", len(list))
	}
	for i, d := range list {
		if got := received[d.GUID] == 1; got != d.OK || d.OK == (i == 1) || d.RepoID != s.repo.Repo().ID {
			t.Errorf("%d: %+v, received: %t", i, d, got)
		}
	}
	if list[0].Event != "pull_request" || list[0].Action != "closed" || !list[0].At.Equal(s.hub.Now()) {
		t.Errorf("the newest: %+v", list[0])
	}
	lost, err := s.app.Delivery(t.Context(), list[1].ID)
	if err != nil {
		t.Fatal(err)
	}
	want := github.Delivery{ID: list[1].GUID, Digest: lost.Digest, Event: github.CommentEvent{
		Subject: github.Subject{Installation: s.repo.Installation(), Repo: s.repo.Repo(), Number: 1, Sender: "alice"},
		Comment: 121, Body: "lockstep plan", At: at,
	}}
	if diff := cmp.Diff(want, lost); diff != "" {
		t.Error(diff)
	}
	if _, err := s.app.Delivery(t.Context(), 9999); err == nil || err.Error() != "read the delivery 9999 of a webhook: not found" {
		t.Errorf("no such delivery: %v", err)
	}
}

func TestInstallations(t *testing.T) {
	s := newSetting(t)
	second := s.hub.AddRepository("acme", "apps", githubtest.Files{"main.tf": ""})
	var want []github.Repo
	want = append(want, s.repo.Repo(), second.Repo())
	other := s.hub.AddRepository("victim", "infra", githubtest.Files{"main.tf": ""})
	gone := s.hub.AddRepository("acme", "gone", githubtest.Files{"main.tf": ""})
	gone.Uninstall("acme")
	installations, err := s.app.Installations(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]github.Installation{{ID: s.repo.Installation(), Account: "acme"}, {ID: other.Installation(), Account: "victim"}}, installations); diff != "" {
		t.Error(diff)
	}
	repos, err := s.app.Repositories(t.Context(), s.repo.Installation())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, repos); diff != "" {
		t.Error(diff)
	}
	if _, err := s.app.Repositories(t.Context(), 1); err == nil {
		t.Error("there is no such installation")
	}
}

// TestDigest holds that a delivery is known by its body, however GitHub's API sets it, and
// whichever secret signs it.
func TestDigest(t *testing.T) {
	const body = `{"action":"created","a":[1,{"b":"c d"}]}`
	read := func(body, secret, guid string) string {
		h := http.Header{}
		h.Set(github.EventHeader, "ping")
		h.Set(github.DeliveryHeader, guid)
		h.Set(github.SignatureHeader, github.Sign(github.NewSecret(secret), []byte(body)))
		d, err := github.ReadDelivery(h, []byte(body), github.NewSecret("old"), github.NewSecret("new"))
		if err != nil {
			t.Fatal(err)
		}
		return d.Digest
	}
	want := read(body, "old", "00000000-1")
	if len(want) != 64 {
		t.Errorf("the digest is %q", want)
	}
	for name, got := range map[string]string{
		"another GUID":   read(body, "old", "00000000-2"),
		"another secret": read(body, "new", "00000000-1"),
		"more space":     read("{\n  \"action\": \"created\",\n  \"a\": [ 1, {\"b\": \"c d\"} ]\n}\n", "old", "00000000-1"),
	} {
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := read(strings.Replace(body, "c d", "cd", 1), "old", "00000000-1"); got == want {
		t.Error("another body has the same digest")
	}
}
