package runlocal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/lockstep-iac/lockstep/functions/run"
)

// Queue implements run.Queue: a file a message, handled one after the other by
// [Queue.Drain]. What is not handled is there when the process starts again.
type Queue struct {
	dir string
	mu  sync.Mutex
}

// Send implements run.Queue.
func (q *Queue) Send(ctx context.Context, m run.Message) error {
	data, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("runlocal: encode message %s: %v", m.ID, err))
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		all, err := numbers(q.dir, "")
		if err != nil {
			return fmt.Errorf("send message: %w", err)
		}
		n := 1
		if len(all) > 0 {
			n = slices.Max(all) + 1
		}
		err = writeNew(filepath.Join(q.dir, strconv.Itoa(n)), data)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("send message: %w", err)
		}
		return nil
	}
}

// Drain hands the messages over in the order they were sent, until there are none
// left, and returns how many there were. A message is removed when it was handled
// without error; the first error ends it, and the message stays.
func (q *Queue) Drain(ctx context.Context, handle func(context.Context, run.Message) error) (int, error) {
	for done := 0; ; done++ {
		all, err := numbers(q.dir, "")
		if err != nil || len(all) == 0 {
			return done, err
		}
		path := filepath.Join(q.dir, strconv.Itoa(slices.Min(all)))
		data, err := os.ReadFile(path)
		if err != nil {
			return done, fmt.Errorf("read message: %w", err)
		}
		var m run.Message
		if err := json.Unmarshal(data, &m); err != nil {
			return done, fmt.Errorf("read message %s: %w", path, err)
		}
		if err := handle(ctx, m); err != nil {
			return done, err
		}
		if err := os.Remove(path); err != nil {
			return done, fmt.Errorf("remove message: %w", err)
		}
	}
}
