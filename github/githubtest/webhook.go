package githubtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/lockstep-iac/lockstep/github"
)

// A delivery is a webhook, waiting or sent.
type delivery struct {
	id, event string
	body      []byte
	sent      bool
}

// send lets a webhook wait for [Hub.Deliver].
func (r *Repository) send(event string, payload map[string]any, who *user, action string) {
	if r.installation == 0 {
		return
	}
	h := r.hub
	payload["action"] = action
	payload["sender"] = h.userJSON(who)
	payload["repository"] = h.repoJSON(r)
	payload["installation"] = map[string]any{"id": r.installation, "node_id": nodeID("Installation", r.installation)}
	body, err := json.Marshal(payload)
	if err != nil {
		panic(fmt.Sprintf("githubtest: payload of %s: %v", event, err))
	}
	id := fmt.Sprintf("00000000-0000-4000-8000-%012x", len(h.deliveries)+1)
	h.deliveries = append(h.deliveries, &delivery{id: id, event: event, body: body})
}

func (r *Repository) sendPull(p *pull, who *user, action string, more map[string]any) {
	payload := map[string]any{"number": p.number, "pull_request": r.hub.pullJSON(r, p)}
	for k, v := range more {
		payload[k] = v
	}
	r.send("pull_request", payload, who, action)
}

func (r *Repository) sendComment(p *pull, c *Comment, who *user, action string) {
	r.send("issue_comment", map[string]any{"issue": r.hub.issueJSON(r, p), "comment": r.hub.commentJSON(r, c)}, who, action)
}

// Deliver sends the webhooks that wait, in order, and returns how many there were. An
// answer other than 2xx is an error; GitHub, too, leaves it at one attempt.
func (h *Hub) Deliver(ctx context.Context) (int, error) {
	n := 0
	for {
		h.mu.Lock()
		var next *delivery
		for _, d := range h.deliveries {
			if !d.sent {
				next = d
				break
			}
		}
		if next != nil {
			next.sent = true
		}
		h.mu.Unlock()
		if next == nil {
			return n, nil
		}
		if _, err := h.post(ctx, next); err != nil {
			return n, err
		}
		n++
	}
}

// Deliveries returns the IDs of all webhooks so far, waiting ones included.
func (h *Hub) Deliveries() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, d := range h.deliveries {
		out = append(out, d.id)
	}
	return out
}

// Redeliver sends a webhook once more, with the ID that it had, and returns the text
// of the answer.
func (h *Hub) Redeliver(ctx context.Context, id string) (string, error) {
	h.mu.Lock()
	var found *delivery
	for _, d := range h.deliveries {
		if d.id == id {
			found = d
		}
	}
	h.mu.Unlock()
	if found == nil {
		return "", fmt.Errorf("there is no delivery %s", id)
	}
	return h.post(ctx, found)
}

func (h *Hub) post(ctx context.Context, d *delivery) (string, error) {
	h.mu.Lock()
	url, secret := h.options.Webhook, h.options.Secret
	h.mu.Unlock()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(d.body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "GitHub-Hookshot/githubtest")
	req.Header.Set(github.EventHeader, d.event)
	req.Header.Set(github.DeliveryHeader, d.id)
	req.Header.Set(github.SignatureHeader, github.Sign(secret, d.body))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", fmt.Errorf("deliver %s %s: %w", d.event, d.id, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	if err == nil && res.StatusCode/100 != 2 {
		err = fmt.Errorf("the answer is %s: %s", res.Status, answer)
	}
	if err != nil {
		return "", fmt.Errorf("deliver %s %s: %w", d.event, d.id, err)
	}
	return string(answer), nil
}
