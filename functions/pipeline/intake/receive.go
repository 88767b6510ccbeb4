package intake

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

// Receive takes one delivery. It reads and writes a few records, sends the messages,
// and returns a word for those who look at the delivery later.
//
// A delivery is known by its body, which is signed; its GUID, which is not, is noted for
// those who know no more of it ([Intake.Received]). The body's record is "received"
// before the message is sent and "queued" after: a death in between leaves "received", and
// GitHub's redelivery, or ours, sends the message then. A body that is "queued" is refused
// as a replay, whatever GUID it comes under. Two at the same time may both send: the
// messages have the body's name, so that they are the same ones.
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
		// Where nobody is served, whoever set it up is told of it in a check run.
		if !p.Serves.None() || send[0].Kind != pipeline.Pushed {
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
		// On a conflict somebody else receives it, and may die before it is sent.
		if err != nil && !errors.Is(err, pipeline.ErrConflict) {
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
	if err == nil || errors.Is(err, pipeline.ErrConflict) {
		_, err = p.Records.Put(ctx, key, []byte(queued), version)
	}
	if err != nil && !errors.Is(err, pipeline.ErrConflict) {
		return "", fmt.Errorf("receive %s: %w", d.ID, err)
	}
	return Accepted, nil
}

// Accepted is Receive's word for a delivery whose messages are sent.
const Accepted = "queued"

// bodyKey names the record of a delivery's body.
func bodyKey(d github.Delivery) string { return deliveryKey("body-" + d.Digest) }

// Received reports whether a delivery was received to its end.
func (p *Intake) Received(ctx context.Context, guid string) (bool, error) {
	rec, err := p.Records.Get(ctx, deliveryKey(guid))
	return string(rec.Value) == queued, err
}

func deliveryKey(guid string) string { return "delivery/" + guid }

// queued is the record of a delivery whose messages are sent.
const queued = "queued"
