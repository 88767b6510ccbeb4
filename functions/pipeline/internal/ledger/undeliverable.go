package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// A Undeliverable is a message that came to nobody, since its repository was away: somebody had taken the App off it, or it was not
// served. Its queue does not have it any more.
type Undeliverable struct {
	Message pipeline.Message
	Times   int  // that it came to nobody
	Sent    bool `json:",omitempty"` // since then
}

// undeliverables is the directory of all of them.
const undeliverables = "stray"

// maxUndeliverable is the number of times that a message may come to nobody: after that its pull request is gone, and not its repository.
const maxUndeliverable = 5

// KeepUndeliverable keeps a message that came to nobody for the time when its repository is back.
func KeepUndeliverable(ctx context.Context, ld Ledger, m pipeline.Message) error {
	return changeStray(ctx, ld, m, func(s *Undeliverable) { s.Message, s.Times, s.Sent = m, s.Times+1, s.Times >= maxUndeliverable })
}

// SentStray notes that one was sent again, or given up.
func SentStray(ctx context.Context, ld Ledger, m pipeline.Message) error {
	return changeStray(ctx, ld, m, func(s *Undeliverable) { s.Sent = true })
}

func changeStray(ctx context.Context, ld Ledger, m pipeline.Message, change func(*Undeliverable)) error {
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

// Strays returns the messages that came to nobody, and were not sent again.
func Strays(ctx context.Context, ld Ledger) (out []pipeline.Message, err error) {
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
