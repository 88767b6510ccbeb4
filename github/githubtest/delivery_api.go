package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

// listDeliveries is GET /app/hook/deliveries: newest first, with cursors rather than
// pages.
func (h *Hub) listDeliveries(r *http.Request) (int, any) {
	if !h.isApp(r) {
		return fail(notTheApp)
	}
	q := r.URL.Query()
	per, err := strconv.Atoi(q.Get("per_page"))
	if err != nil || per <= 0 || per > 100 {
		per = 30
	}
	before, err := strconv.ParseInt(q.Get("cursor"), 10, 64)
	if err != nil {
		before = h.attemptIDs + 1
	}
	list := []any{}
	next := ""
	for _, a := range slices.Backward(h.attempts) {
		if !a.made || a.id >= before {
			continue
		}
		if len(list) == per {
			q.Set("cursor", number64(a.id+1))
			next = fmt.Sprintf("http://%s%s?%s", r.Host, r.URL.Path, q.Encode())
			break
		}
		list = append(list, a.json())
	}
	return http.StatusOK, page{list, next}
}

// attempt finds the attempt of a request.
func (h *Hub) attempt(r *http.Request) (*attempt, *problem) {
	if !h.isApp(r) {
		return nil, notTheApp
	}
	for _, a := range h.attempts {
		if a.made && a.id == int64(number(r, "id")) {
			return a, nil
		}
	}
	return nil, notFound
}

// getDelivery is GET /app/hook/deliveries/{id}.
func (h *Hub) getDelivery(r *http.Request) (int, any) {
	a, p := h.attempt(r)
	if p != nil {
		return fail(p)
	}
	o := a.json()
	o["url"] = h.options.Webhook
	o["request"] = object{"headers": a.of.headers(), "payload": json.RawMessage(a.of.body)}
	o["response"] = object{"headers": object{}, "payload": a.answer}
	return http.StatusOK, o
}

// attemptDelivery is POST /app/hook/deliveries/{id}/attempts.
func (h *Hub) attemptDelivery(r *http.Request) (int, any) {
	a, p := h.attempt(r)
	if p != nil {
		return fail(p)
	}
	h.try(a.of, true)
	return http.StatusAccepted, object{}
}

func (a *attempt) json() object {
	o := object{
		"id": a.id, "guid": a.of.guid, "delivered_at": stamp(a.at), "redelivery": a.again, "duration": 0.1,
		"status": "OK", "status_code": a.status, "event": a.of.event, "action": orNull(a.of.action),
		"installation_id": a.of.installation, "repository_id": nil,
	}
	if a.of.repo != 0 {
		o["repository_id"] = a.of.repo
	}
	switch {
	case a.status == 0:
		o["status"], o["status_code"] = "failed to connect to host", http.StatusBadGateway
	case a.status/100 != 2:
		o["status"] = "Invalid HTTP Response: " + strconv.Itoa(a.status)
	}
	return o
}
