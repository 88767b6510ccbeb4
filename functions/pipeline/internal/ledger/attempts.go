package ledger

import (
	"context"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// Attempts counts the attempts at a message since its work last made progress. It is for applies: each
// hand-over is a receive, too, so the queue's own count is no number of attempts.
type Attempts struct {
	Ledger  Ledger
	Key     string // of the record that the message was handled
	version pipeline.Version
	n       int
	counted bool
	joined  bool
}

// done is the value of the record of a handled message.
const done = "done"

// Begin reads the record, and returns the number of this attempt; 0 if the message was handled. If count is
// set, the attempt is recorded. An error that wraps pipeline.ErrConflict then means that another process made
// an attempt at the same time.
func (t *Attempts) Begin(ctx context.Context, count bool) (int, error) {
	rec, err := t.Ledger.Records.Get(ctx, t.Key)
	if err != nil || string(rec.Value) == done {
		return 0, err
	}
	if t.version = rec.Version; t.version != "" {
		if _, err := fmt.Sscanf(string(rec.Value), "try %d", &t.n); err != nil {
			return 0, fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
		}
	}
	t.n++
	if !count {
		return t.n, nil
	}
	t.counted = true
	return t.n, t.put(ctx, fmt.Sprintf("try %d", t.n))
}

// Done reports whether the message was handled.
func (t Attempts) Done(ctx context.Context) (bool, error) {
	rec, err := t.Ledger.Records.Get(ctx, t.Key)
	return string(rec.Value) == done, err
}

// Join is Begin for a process that got the message from another process, which has counted the attempt.
func (t *Attempts) Join(ctx context.Context) (int, error) {
	n, err := t.Begin(ctx, false)
	if err != nil || n == 0 {
		return 0, err
	}
	t.n, t.joined = max(n-1, 1), true
	return t.n, nil
}

// Restart resets the count, because the work makes progress. If that cannot be recorded, the count stays too
// high; Restart reports no error.
func (t *Attempts) Restart(ctx context.Context) {
	if (t.counted || t.joined) && t.n > 0 {
		t.n = 0
		_ = t.put(ctx, "try 0")
	}
}

// TakeBack removes this attempt from the count, because it has only found another process at work.
func (t *Attempts) TakeBack(ctx context.Context) {
	if t.counted {
		_ = t.put(ctx, fmt.Sprintf("try %d", t.n-1))
	}
}

// Finish records that the message was handled.
func (t *Attempts) Finish(ctx context.Context) error { return t.put(ctx, done) }

func (t *Attempts) put(ctx context.Context, value string) error {
	version, err := t.Ledger.Records.Put(ctx, t.Key, []byte(value), t.version)
	if err == nil {
		t.version = version
		return nil
	}
	// The write may have succeeded, and only its answer was lost.
	rec, e2 := t.Ledger.Records.Get(ctx, t.Key)
	if e2 == nil && value == done && string(rec.Value) == done {
		t.version = rec.Version
		return nil
	}
	return err
}
