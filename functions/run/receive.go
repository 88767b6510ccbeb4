package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/github"
)

// Receive takes one delivery. It reads and writes one record, sends one message at
// most, and returns what to tell whoever looks at the delivery later.
//
// The record says "received" before the message is sent and "queued" after: a death in
// between leaves "received", and GitHub's redelivery, or ours, sends the message then.
// A delivery that is "queued" is refused as a replay. Two at the same time may both
// send: messages may come twice.
func (p *Pipeline) Receive(ctx context.Context, d github.Delivery) (string, error) {
	m, ok := message(d)
	if !ok {
		return "nothing to do", nil
	}
	key := "delivery/" + d.ID
	have, err := p.Records.Get(ctx, key)
	if err != nil {
		return "", fmt.Errorf("receive %s: %w", d.ID, err)
	}
	version := have.Version
	switch {
	case string(have.Value) == "queued":
		return "refused: this delivery was received before", nil
	case version == "":
		version, err = p.Records.Put(ctx, key, []byte("received"), "")
		if errors.Is(err, ErrConflict) {
			return "refused: this delivery is being received", nil
		}
		if err != nil {
			return "", fmt.Errorf("receive %s: %w", d.ID, err)
		}
	}
	if err := p.Queue.Send(ctx, m); err != nil {
		return "", fmt.Errorf("receive %s: %w", d.ID, err)
	}
	if _, err := p.Records.Put(ctx, key, []byte("queued"), version); err != nil && !errors.Is(err, ErrConflict) {
		return "", fmt.Errorf("receive %s: %w", d.ID, err)
	}
	return "queued", nil
}

// message returns what a delivery asks for; ok is false if nothing. Comments without
// commands end here, and so do those of bots: ours, and others that quote ours.
func message(d github.Delivery) (m Message, ok bool) {
	switch e := d.Event.(type) {
	case github.PullRequestEvent:
		switch e.Action {
		case "opened", "synchronize", "reopened":
			return Message{ID: d.ID, Kind: Pushed, Pull: pullOf(e.Subject), Action: e.Action}, true
		case "closed":
			return Message{ID: d.ID, Kind: Closed, Pull: pullOf(e.Subject), Action: e.Action, Merged: e.Merged, Actor: e.Sender}, true
		}
	case github.CommentEvent:
		if lines := comment.Parse(e.Body); len(lines) > 0 && !e.Bot {
			return Message{ID: d.ID, Kind: Commanded, Pull: pullOf(e.Subject), Comment: e.Comment, Actor: e.Sender, Lines: lines}, true
		}
	}
	return Message{}, false
}

func pullOf(s github.Subject) Pull {
	return Pull{Installation: s.Installation, Repo: s.Repo, Number: s.Number}
}

// A Webhook is the address that GitHub sends webhooks to.
type Webhook struct {
	Pipeline *Pipeline
	Secrets  []github.Secret
	// Log is told what could not be received; may be nil.
	Log func(error)
}

// ServeHTTP implements http.Handler.
func (h Webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(w, "webhooks are posted", http.StatusMethodNotAllowed)
		return
	}
	body, err := github.ReadPayload(r.Body)
	status, text := http.StatusBadRequest, ""
	if err == nil {
		status, text = h.Answer(r.Context(), r.Header, body)
	} else if errors.Is(err, github.ErrTooLarge) {
		status, text = http.StatusRequestEntityTooLarge, err.Error()
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"result": text})
}

// Answer takes the header and body of a webhook and returns the answer: an HTTP status
// and a text.
func (h Webhook) Answer(ctx context.Context, header http.Header, body []byte) (status int, text string) {
	d, err := github.ReadDelivery(header, body, h.Secrets...)
	switch {
	case errors.Is(err, github.ErrSignature):
		return http.StatusUnauthorized, err.Error()
	case err != nil:
		return http.StatusBadRequest, err.Error()
	}
	text, err = h.Pipeline.Receive(ctx, d)
	if err != nil {
		if h.Log != nil {
			h.Log(err)
		}
		return http.StatusServiceUnavailable, "it could not be stored; deliver it again"
	}
	return http.StatusAccepted, text
}
