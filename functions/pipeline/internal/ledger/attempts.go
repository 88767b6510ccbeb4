package ledger

import (
	"context"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// Attempts counts the attempts at a message since its work last made progress. It is used for applies. The
// queue's own count is no use for them, because each hand-over to another process also counts there.
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

// Begin reads the record, and returns the number of this attempt; 0 if the message was already handled. If
// count is set, it also records the attempt. If the error wraps pipeline.ErrConflict, another process has begun
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

// Join is like Begin, for a process that continues the message of another process. That process has already
// counted the attempt.
func (t *Attempts) Join(ctx context.Context) (int, error) {
	n, err := t.Begin(ctx, false)
	if err != nil || n == 0 {
		return 0, err
	}
	t.n, t.joined = max(n-1, 1), true
	return t.n, nil
}

// Restart sets the count to zero, because the work makes progress. If that cannot be recorded, the count is too
// high; Restart returns no error.
func (t *Attempts) Restart(ctx context.Context) {
	if (t.counted || t.joined) && t.n > 0 {
		t.n = 0
		_ = t.put(ctx, "try 0")
	}
}

// TakeBack does not count this attempt: it has only found that another process is working.
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
