package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// An Undeliverable is a message that could not be handled because its repository was not accessible: the App
// had been removed from the repository, or the repository was not served. The message is no longer on the
// queue.
type Undeliverable struct {
	Message pipeline.Message
	Times   int  // how often it could not be handled
	Sent    bool `json:",omitempty"` // sent again since then
}

// undeliverables is the directory of the keys of all undeliverable messages.
const undeliverables = "stray"

// maxUndeliverable is how often a message may be undeliverable. After that many times, its pull request counts
// as deleted.
const maxUndeliverable = 5

// KeepUndeliverable stores an undeliverable message until its repository is accessible again.
func KeepUndeliverable(ctx context.Context, ld Ledger, m pipeline.Message) error {
	return changeUndeliverable(ctx, ld, m, func(s *Undeliverable) { s.Message, s.Times, s.Sent = m, s.Times+1, s.Times >= maxUndeliverable })
}

// MarkSent records that a message was sent again, or given up.
func MarkSent(ctx context.Context, ld Ledger, m pipeline.Message) error {
	return changeUndeliverable(ctx, ld, m, func(s *Undeliverable) { s.Sent = true })
}

func changeUndeliverable(ctx context.Context, ld Ledger, m pipeline.Message, change func(*Undeliverable)) error {
	key := fmt.Sprintf("%s/%d-%s", undeliverables, m.Pull.Repo.ID, url.PathEscape(m.FirstID()))
	_, err := ld.Change(ctx, key, func(old []byte) ([]byte, error) {
		var s Undeliverable
		if err := json.Unmarshal(old, &s); old != nil && err != nil {
			return nil, fmt.Errorf("the record is damaged: %w", err)
		}
		change(&s)
		return pipeline.Encode(s), nil
	})
	return err
}

// Undeliverables returns the undeliverable messages that were not sent again.
func Undeliverables(ctx context.Context, ld Ledger) (out []pipeline.Message, err error) {
	list, err := ld.Records.List(ctx, undeliverables)
	for _, rec := range list {
		var s Undeliverable
		if err := json.Unmarshal(rec.Value, &s); err != nil {
			return nil, fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
		}
		if !s.Sent {
			out = append(out, s.Message)
		}
	}
	return out, err
}
