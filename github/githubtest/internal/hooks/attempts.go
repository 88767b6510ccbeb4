package hooks

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// List answers GET /app/hook/deliveries: attempts, newest first, with cursors rather than pages.
func (o *Outbox) List(r *http.Request) (int, any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	q := r.URL.Query()
	per, err := strconv.Atoi(q.Get("per_page"))
	if err != nil || per <= 0 || per > 100 {
		per = 30
	}
	before, err := strconv.ParseInt(q.Get("cursor"), 10, 64)
	if err != nil {
		before = int64(len(o.attempts) + 1)
	}
	list := []any{}
	next := ""
	for _, a := range slices.Backward(o.attempts) {
		if !a.made || a.id >= before || a.of.to != nil {
			continue
		}
		if len(list) == per {
			q.Set("cursor", strconv.FormatInt(a.id+1, 10))
			next = fmt.Sprintf("http://%s%s?%s", r.Host, r.URL.Path, q.Encode())
			break
		}
		list = append(list, a.json())
	}
	return http.StatusOK, rest.Page{Items: list, Next: next}
}

// Get answers GET /app/hook/deliveries/{id}: one attempt in full.
func (o *Outbox) Get(r *http.Request) (int, any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	a := o.requested(r)
	if a == nil {
		return rest.Fail(rest.NotFound)
	}
	shown := a.json()
	shown["url"] = o.url
	shown["request"] = rest.Object{"headers": a.of.headers(), "payload": json.RawMessage(a.of.body)}
	shown["response"] = rest.Object{"headers": rest.Object{}, "payload": a.answer}
	return http.StatusOK, shown
}

// Attempt answers POST /app/hook/deliveries/{id}/attempts: it adds another attempt, which waits for Deliver.
func (o *Outbox) Attempt(r *http.Request) (int, any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	a := o.requested(r)
	if a == nil {
		return rest.Fail(rest.NotFound)
	}
	o.try(a.of, true)
	return http.StatusAccepted, rest.Object{}
}

// requested returns the attempt that a request names; nil if there is none.
func (o *Outbox) requested(r *http.Request) *attempt {
	id := rest.ID(r, "id")
	if id < 1 || id > int64(len(o.attempts)) || !o.attempts[id-1].made {
		return nil
	}
	return o.attempts[id-1]
}

func (a *attempt) json() rest.Object {
	o := rest.Object{
		"id": a.id, "guid": a.of.guid, "delivered_at": rest.Stamp(a.at), "redelivery": a.again, "duration": 0.1,
		"status": "OK", "status_code": a.status, "event": a.of.Event, "action": rest.OrNull(a.of.Action),
		"installation_id": a.of.Installation, "repository_id": nil,
	}
	if a.of.Repository != 0 {
		o["repository_id"] = a.of.Repository
	}
	switch {
	case a.status == 0:
		o["status"], o["status_code"] = "failed to connect to host", http.StatusBadGateway
	case a.status/100 != 2:
		o["status"] = "Invalid HTTP Response: " + strconv.Itoa(a.status)
	}
	return o
}
