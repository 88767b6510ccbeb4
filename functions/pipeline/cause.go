package pipeline

import (
	"context"
	"time"
)

// A Cause says where a message comes from, for measurements.
type Cause struct {
	// Received is the time when Lockstep received the webhook of which the message is a consequence, and Sent the time when
	// the message was sent, both by Lockstep's clock.
	Received time.Time `json:",omitzero"`
	Sent     time.Time `json:",omitzero"`
	// Span is the span in which the message was sent; "" for none.
	// Source: https://www.w3.org/TR/trace-context/#traceparent-header
	Span string `json:",omitempty"`
}

type causeKey struct{}

// WithCause returns a context for work of which x is the cause.
func WithCause(ctx context.Context, x Cause) context.Context {
	return context.WithValue(ctx, causeKey{}, x)
}

// Stamped is a queue that writes the cause of the sender's context into each message. A message that has a cause keeps it.
type Stamped struct{ Queue }

// Send implements Queue.
func (q Stamped) Send(ctx context.Context, m Message) error {
	if m.Cause.Sent.IsZero() {
		x, _ := ctx.Value(causeKey{}).(Cause)
		if x.Sent = time.Now().UTC(); x.Received.IsZero() {
			x.Received = x.Sent
		}
		m.Cause = x
	}
	return q.Queue.Send(ctx, m)
}

// Ahead counts as [Ahead] does.
func (q Stamped) Ahead(ctx context.Context, about Pull) (int, error) {
	return Ahead(ctx, q.Queue, about)
}
