package intake

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

// Receive handles one webhook. It reads and writes a few records, and sends the messages. It returns a word
// such as "queued", for people who look at the delivery on GitHub later.
//
// A webhook is identified by its body, which is signed. Its GUID is not signed; it is recorded for
// [Intake.Received], whose callers know only the GUID. The record of the body is "received" before the messages
// are sent, and "queued" after that. If the process dies in between, GitHub or the janitor delivers the webhook
// once more, and the messages are sent then. If the record is already "queued", the webhook is refused as a
// replay, whatever its GUID. Two processes may send the messages at the same time. The IDs of the messages are
// made from the body, so they count once.
func (p *Intake) Receive(ctx context.Context, d github.Delivery) (string, error) {
	send := messages(d)
	if len(send) == 0 {
		var err error
		if send, err = p.affected(ctx, d); err != nil {
			return "", fmt.Errorf("receive %s: %w", d.ID, err)
		}
	}
	if len(send) == 0 {
		return "nothing to do", nil
	}
	if s := p.Serves.Decide(send[0].Pull.Repo, Known{}); !s.Allowed() {
		// A deployment may list no owners or repositories yet. A push then still gets a check run, which says
		// that to the operator.
		if !p.Serves.Empty() || send[0].Kind != pipeline.Pushed {
			p.log(NotServed(send[0].Pull.Repo, s))
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
		// A conflict means that another process receives the same webhook. It may die before it sends the
		// messages, so this process continues.
		if err != nil && !errors.Is(err, pipeline.ErrConflict) {
			return "", fmt.Errorf("receive %s: %w", d.ID, err)
		}
	}
	for _, m := range send {
		if err := p.Queue.Send(ctx, m); err != nil {
			return "", fmt.Errorf("receive %s: %w", d.ID, err)
		}
	}
	// The record with the GUID is written before the record that the messages are sent. If the process dies in
	// between, the messages may be sent twice, with the same IDs. In the other order, the janitor would believe
	// that the webhook was lost.
	_, err = p.Records.Put(ctx, deliveryKey(d.ID), []byte(queued), "")
	if err == nil || errors.Is(err, pipeline.ErrConflict) {
		_, err = p.Records.Put(ctx, key, []byte(queued), version)
	}
	if err != nil && !errors.Is(err, pipeline.ErrConflict) {
		return "", fmt.Errorf("receive %s: %w", d.ID, err)
	}
	return Accepted, nil
}

// Accepted is the word that [Intake.Receive] returns for a webhook whose messages were sent.
const Accepted = "queued"

// bodyKey returns the key of the record about a webhook's body.
func bodyKey(d github.Delivery) string { return deliveryKey("body-" + d.Digest) }

// Received reports whether the webhook with this GUID was handled completely.
func (p *Intake) Received(ctx context.Context, guid string) (bool, error) {
	rec, err := p.Records.Get(ctx, deliveryKey(guid))
	return string(rec.Value) == queued, err
}

func deliveryKey(guid string) string { return "delivery/" + guid }

// queued is the value of a record about a webhook whose messages were sent.
const queued = "queued"
