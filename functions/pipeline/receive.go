package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// Receive takes one delivery. It reads and writes two records, sends what it asks for,
// and returns what to tell whoever looks at the delivery later.
//
// A delivery is known by its body, which is signed; its GUID, which is not, is noted for
// those who know no more of it ([Pipeline.Received]). The body's record says "received"
// before the message is sent and "queued" after: a death in between leaves "received", and
// GitHub's redelivery, or ours, sends the message then. A body that is "queued" is refused
// as a replay, whatever GUID it comes under. Two at the same time may both send: the
// messages have the body's name, so that they are the same ones.
func (p *Pipeline) Receive(ctx context.Context, d github.Delivery) (string, error) {
	send := messages(d)
	if len(send) == 0 {
		return "nothing to do", nil
	}
	if s := p.Serves.Decide(send[0].Pull.Repo, runs.Known{}); !s.Allowed() {
		// Where nobody is served, whoever set it up is told of it in a check run.
		if !p.Serves.None() || send[0].Kind != Pushed {
			p.log(notServed(send[0].Pull.Repo, s))
			return "not served here", nil
		}
	}
	known, err := p.Received(ctx, d.ID)
	if err != nil {
		return "", fmt.Errorf("receive %s: %w", d.ID, err)
	}
	key := bodyKey(d)
	have, err := p.Records.Get(ctx, key)
	if err != nil {
		return "", fmt.Errorf("receive %s: %w", d.ID, err)
	}
	version := have.Version
	switch {
	case known && (version == "" || string(have.Value) == queued):
		return "refused: this delivery was received before", nil
	case string(have.Value) == queued:
		return "refused: this was received before, as another delivery", nil
	case version == "":
		version, err = p.Records.Put(ctx, key, []byte("received"), "")
		// On a conflict somebody else receives it, and may die before it is sent.
		if err != nil && !errors.Is(err, ErrConflict) {
			return "", fmt.Errorf("receive %s: %w", d.ID, err)
		}
	}
	for _, m := range send {
		if err := p.Queue.Send(ctx, m); err != nil {
			return "", fmt.Errorf("receive %s: %w", d.ID, err)
		}
	}
	// The GUID first: who dies behind it leaves a body whose messages may be sent again, under
	// the same names, and not a delivery that the janitor finds missing.
	_, err = p.Records.Put(ctx, deliveryKey(d.ID), []byte(queued), "")
	if err == nil || errors.Is(err, ErrConflict) {
		_, err = p.Records.Put(ctx, key, []byte(queued), version)
	}
	if err != nil && !errors.Is(err, ErrConflict) {
		return "", fmt.Errorf("receive %s: %w", d.ID, err)
	}
	return Accepted, nil
}

// Accepted is what Receive says of a delivery whose messages are sent.
const Accepted = "queued"

// bodyKey names the record of a delivery's body.
func bodyKey(d github.Delivery) string { return deliveryKey("body-" + d.Digest) }

// messages returns what a delivery asks for. Comments without commands end here, and so
// do those of bots: ours, and others that quote ours.
func messages(d github.Delivery) []Message {
	m := Message{ID: d.Digest[:messageDigits]}
	switch e := d.Event.(type) {
	case github.PullRequestEvent:
		m.Pull, m.Action, m.Merged = pullOf(e.Subject), e.Action, e.Merged
		switch {
		case e.Action == "opened", e.Action == "synchronize", e.Action == "reopened", e.BaseChanged:
			m.Kind = Pushed
		case e.Action == "closed":
			m.Kind, m.Actor = Closed, e.Sender
		default:
			return nil
		}
	case github.CommentEvent:
		m.Kind, m.Pull, m.Comment, m.Actor, m.Lines = Commanded, pullOf(e.Subject), e.Comment, e.Sender, comment.Parse(e.Body)
		m.At = e.At
		if len(m.Lines) == 0 || e.Bot {
			return nil
		}
	case github.ReviewEvent:
		m.Kind, m.Pull = Tell, pullOf(e.Subject)
	case github.RerunEvent:
		return reruns(m.ID, e)
	default:
		return nil
	}
	return []Message{m}
}

// reruns returns what the button of a check run asks for: the command that does the
// same.
func reruns(id string, e github.RerunEvent) []Message {
	c := comment.Command{Verb: comment.Plan}
	if name, ours := strings.CutPrefix(e.Name, runs.CheckPrefix); ours {
		c.Project, c.Workspace, _ = strings.Cut(name, "@")
	}
	var out []Message
	for _, n := range e.Pulls {
		out = append(out, Message{
			ID: fmt.Sprintf("%s-%d", id, n), Kind: Commanded, Pull: Pull{Installation: e.Installation, Repo: e.Repo, Number: n},
			Actor: e.Sender, Lines: []comment.Line{{Text: c.String(), Command: c}},
		})
	}
	return out
}

func pullOf(s github.Subject) Pull {
	return Pull{Installation: s.Installation, Repo: s.Repo, Number: s.Number}
}

// Received reports whether a delivery was received to its end.
func (p *Pipeline) Received(ctx context.Context, guid string) (bool, error) {
	rec, err := p.Records.Get(ctx, deliveryKey(guid))
	return string(rec.Value) == queued, err
}

func deliveryKey(guid string) string { return "delivery/" + guid }

// queued is the record of a delivery whose messages are sent.
const queued = "queued"

// messageDigits is how much of a body's digest its messages are named by: enough that no
// two share it, and short enough for what is named after them.
const messageDigits = 32

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
