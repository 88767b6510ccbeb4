package intake

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/lockstep-iac/lockstep/github"
)

// A Webhook is the HTTP handler for GitHub's webhooks.
type Webhook struct {
	Intake  *Intake
	Secrets []github.Secret
	// Log is called with an error for each webhook that could not be received. It may be nil.
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

// Answer handles the header and the body of a webhook. It returns an HTTP status and a text as the answer.
func (h Webhook) Answer(ctx context.Context, header http.Header, body []byte) (status int, text string) {
	d, err := github.ReadDelivery(header, body, h.Secrets...)
	switch {
	case errors.Is(err, github.ErrSignature):
		return http.StatusUnauthorized, err.Error()
	case err != nil:
		return http.StatusBadRequest, err.Error()
	}
	text, err = h.Intake.Receive(ctx, d)
	if err != nil {
		if h.Log != nil {
			h.Log(err)
		}
		return http.StatusServiceUnavailable, "it could not be stored; deliver it again"
	}
	return http.StatusAccepted, text
}
