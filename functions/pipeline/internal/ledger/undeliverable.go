package ledger

import (
	"cmp"
	"context"
	"fmt"
	"net/url"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// An Undeliverable is a message that could not be handled because its repository was not accessible: the App
// was removed from the repository, or Lockstep did not work for it. The message is no longer in the queue.
type Undeliverable struct {
	Message pipeline.Message
	Times   int  // how often it could not be handled
	Sent    bool `json:",omitempty"` // sent again since then
}

// undeliverables is the beginning of the keys of all undeliverable messages.
const undeliverables = "stray"

// maxUndeliverable is how often a message may be undeliverable. After that, Lockstep assumes that its pull
// request was deleted.
const maxUndeliverable = 5

// KeepUndeliverable stores an undeliverable message until its repository is accessible again.
func KeepUndeliverable(ctx context.Context, ld Ledger, m pipeline.Message) error {
	return changeUndeliverable(ctx, ld, m, func(s *Undeliverable) { s.Message, s.Times, s.Sent = m, s.Times+1, s.Times >= maxUndeliverable })
}

// MarkSent records that an undeliverable message was sent once more, or given up.
func MarkSent(ctx context.Context, ld Ledger, m pipeline.Message) error {
	return changeUndeliverable(ctx, ld, m, func(s *Undeliverable) { s.Sent = true })
}

func changeUndeliverable(ctx context.Context, ld Ledger, m pipeline.Message, edit func(*Undeliverable)) error {
	key := fmt.Sprintf("%s/%d-%s", undeliverables, m.Pull.Repo.ID, url.PathEscape(m.FirstID()))
	return Edit(ctx, ld, key, func(have *Undeliverable) *Undeliverable {
		s := cmp.Or(have, &Undeliverable{})
		edit(s)
		return s
	})
}

// Undeliverables returns the undeliverable messages that are still to be sent once more.
func Undeliverables(ctx context.Context, ld Ledger) (out []pipeline.Message, err error) {
	all, err := List[Undeliverable](ctx, ld, undeliverables)
	for _, s := range all {
		if !s.Sent {
			out = append(out, s.Message)
		}
	}
	return out, err
}
