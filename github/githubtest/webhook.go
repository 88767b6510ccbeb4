package githubtest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/lockstep-iac/lockstep/github"
)

// A delivery is a webhook: waiting, or tried, once or more often.
type delivery struct {
	guid, event  string
	action       string
	installation int64
	repo         int64 // 0 if it is about none
	body         []byte
	attempts     []*attempt
}

// An attempt to deliver a webhook waits until it is made.
type attempt struct {
	id     int64
	of     *delivery
	again  bool // it was asked for
	made   bool
	at     time.Time
	status int // of the answer, 0 if there was none
	answer string
}

// send lets a webhook about the repository wait for [Hub.Deliver].
func (r *Repository) send(event string, payload object, who *user, action string) {
	if r.installation == 0 {
		return
	}
	payload["action"] = action
	payload["sender"] = r.hub.userJSON(who)
	payload["repository"] = r.hub.repoJSON(r)
	payload["installation"] = object{"id": r.installation, "node_id": nodeID("Installation", r.installation)}
	r.hub.post(event, r.installation, r, payload)
}

// post lets a webhook wait.
func (h *Hub) post(event string, installation int64, r *Repository, payload object) {
	body, err := json.Marshal(payload)
	if err != nil {
		panic(fmt.Sprintf("githubtest: payload of %s: %v", event, err))
	}
	guid := fmt.Sprintf("00000000-0000-4000-8000-%012x", len(h.deliveries)+1)
	d := &delivery{guid: guid, event: event, action: payload["action"].(string), installation: installation, body: body}
	if r != nil {
		d.repo = r.id
	}
	h.deliveries = append(h.deliveries, d)
	h.try(d, false)
}

// try lets an attempt at a webhook wait.
func (h *Hub) try(d *delivery, again bool) {
	h.attemptIDs++
	a := &attempt{id: h.attemptIDs, of: d, again: again}
	d.attempts = append(d.attempts, a)
	h.attempts = append(h.attempts, a)
}

func (r *Repository) sendPull(p *pull, who *user, action string, more object) {
	payload := object{"number": p.number, "pull_request": r.hub.pullJSON(r, p)}
	for k, v := range more {
		payload[k] = v
	}
	r.send("pull_request", payload, who, action)
}

// Deliver sends the webhooks that wait, in order, and returns how many there were. An
// answer other than 2xx is an error; GitHub, too, leaves it at one attempt.
func (h *Hub) Deliver(ctx context.Context) (int, error) {
	for n := 0; ; n++ {
		a := h.next()
		if a == nil {
			return n, nil
		}
		if err := h.perform(ctx, a); err != nil {
			return n, err
		}
	}
}

// next takes the attempt that waits longest.
func (h *Hub) next() *attempt {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range h.attempts {
		if !a.made {
			a.made, a.at = true, h.clock
			return a
		}
	}
	return nil
}

// LoseDeliveries lets the next n webhooks get lost: GitHub tries to send them, and
// nobody receives them.
func (h *Hub) LoseDeliveries(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lose = n
}

// Deliveries returns the GUIDs of all webhooks so far, waiting ones included.
func (h *Hub) Deliveries() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, d := range h.deliveries {
		out = append(out, d.guid)
	}
	return out
}

// Redeliver sends a webhook once more, with the GUID that it had, and returns the text
// of the answer.
func (h *Hub) Redeliver(ctx context.Context, guid string) (string, error) {
	h.mu.Lock()
	var a *attempt
	for _, d := range h.deliveries {
		if d.guid == guid {
			h.try(d, true)
			a = d.attempts[len(d.attempts)-1]
			a.made, a.at = true, h.clock
		}
	}
	h.mu.Unlock()
	if a == nil {
		return "", fmt.Errorf("there is no delivery %s", guid)
	}
	err := h.perform(ctx, a)
	return a.answer, err
}

// Replay sends a webhook's body and signature under another GUID and another event's name,
// as somebody can who has seen it; both "" stand for its own. It returns the answer.
func (h *Hub) Replay(ctx context.Context, guid, as, event string) (status int, answer string, err error) {
	h.mu.Lock()
	url, secret := h.options.Webhook, h.options.Secret
	var seen *delivery
	for _, d := range h.deliveries {
		if d.guid == guid {
			again := *d
			seen = &again
		}
	}
	h.mu.Unlock()
	if seen == nil {
		return 0, "", fmt.Errorf("there is no delivery %s", guid)
	}
	seen.guid, seen.event = cmp.Or(as, seen.guid), cmp.Or(event, seen.event)
	return seen.request(ctx, url, secret)
}

// perform makes an attempt.
func (h *Hub) perform(ctx context.Context, a *attempt) error {
	h.mu.Lock()
	url, secret, lost := h.options.Webhook, h.options.Secret, h.lose > 0
	if lost {
		h.lose--
	}
	h.mu.Unlock()
	if lost {
		return nil
	}
	status, answer, err := a.of.request(ctx, url, secret)
	h.mu.Lock()
	a.status, a.answer = status, answer
	h.mu.Unlock()
	if err == nil && status/100 != 2 {
		err = fmt.Errorf("the answer is %d: %s", status, answer)
	}
	if err != nil {
		return fmt.Errorf("deliver %s %s: %w", a.of.event, a.of.guid, err)
	}
	return nil
}

// request sends a webhook and returns the answer.
func (d *delivery) request(ctx context.Context, url string, secret github.Secret) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(d.body))
	if err != nil {
		return 0, "", err
	}
	for name, value := range d.headers() {
		req.Header.Set(name, value)
	}
	req.Header.Set(github.SignatureHeader, github.Sign(secret, d.body))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	return res.StatusCode, string(answer), err
}

func (d *delivery) headers() map[string]string {
	return map[string]string{
		"Content-Type": "application/json", "User-Agent": "GitHub-Hookshot/githubtest",
		github.EventHeader: d.event, github.DeliveryHeader: d.guid,
	}
}
