package githubtest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/github"
)

// TestAttempts holds that what came of each attempt to deliver a webhook can be read,
// and that one can be asked for again.
func TestAttempts(t *testing.T) {
	answers := []int{202, 503, 200}
	var guids []string
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		guids = append(guids, r.Header.Get(github.DeliveryHeader))
		w.WriteHeader(answers[0])
		answers = answers[1:]
	}))
	defer hook.Close()
	h := New(Options{Webhook: hook.URL})
	r := h.AddRepository("acme", "infra", Files{"a": "1"})
	a := newAsker(t, h)
	r.Push("alice", "topic", "Topic", Files{"a": "2"})
	r.OpenPull("alice", "Topic", "topic")
	r.Comment("bob", 1, "Hello")
	r.Close("alice", 1)
	if n, err := h.Deliver(t.Context()); n != 1 || err == nil {
		t.Errorf("%d delivered, %v", n, err)
	}
	h.LoseDeliveries(1)
	if n, err := h.Deliver(t.Context()); n != 1 || err != nil {
		t.Errorf("%d delivered, %v", n, err)
	}
	type attempt struct {
		ID         int64
		GUID       string
		Event      string
		Redelivery bool
		Code       int `json:"status_code"`
	}
	list := func() (out []attempt) {
		t.Helper()
		status, text := a.ask(t, "GET", "/app/hook/deliveries", a.app(t), "")
		if err := json.Unmarshal([]byte(text), &out); err != nil || status != 200 {
			t.Fatalf("%d %s, %v", status, text, err)
		}
		return out
	}
	want := []attempt{
		{3, h.Deliveries()[2], "pull_request", false, 502},
		{2, h.Deliveries()[1], "issue_comment", false, 503},
		{1, h.Deliveries()[0], "pull_request", false, 202},
	}
	if diff := cmp.Diff(want, list()); diff != "" {
		t.Error(diff)
	}
	if status, _ := a.ask(t, "POST", "/app/hook/deliveries/3/attempts", a.app(t), ""); status != http.StatusAccepted {
		t.Errorf("asked again: %d", status)
	}
	if n, err := h.Deliver(t.Context()); n != 1 || err != nil {
		t.Errorf("%d delivered, %v", n, err)
	}
	want = append([]attempt{{4, h.Deliveries()[2], "pull_request", true, 200}}, want...)
	if diff := cmp.Diff(want, list()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(h.Deliveries(), guids); diff != "" {
		t.Error(diff)
	}
}

// TestDeliverAfterAnEdit holds that whoever delivers on hearing of an edit delivers its webhook, too:
// an edit is told of before it is complete.
func TestDeliverAfterAnEdit(t *testing.T) {
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer hook.Close()
	var h *Hub
	delivered := make(chan int, 10)
	h = New(Options{Webhook: hook.URL, OnEdit: func(Edit) {
		began := make(chan struct{})
		go func() {
			close(began)
			n, err := h.Deliver(t.Context())
			if err != nil {
				t.Error(err)
			}
			delivered <- n
		}()
		<-began
		time.Sleep(20 * time.Millisecond) // time to come too early
	}})
	r := h.AddRepository("acme", "infra", Files{"a": "1"})
	r.Push("alice", "topic", "Topic", Files{"a": "2"})
	r.OpenPull("alice", "Topic", "topic")
	edits := len(h.Edits())
	total := 0
	for range edits {
		total += <-delivered
	}
	if want := len(h.Deliveries()); total != want || want == 0 {
		t.Errorf("%d of %d webhooks were delivered after %d edits", total, want, edits)
	}
}
