package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// FencedError refuses a write of a run whose journal another run has taken over.
type FencedError struct {
	Place string
	Run   string // the run that has taken over
}

func (e *FencedError) Error() string {
	return fmt.Sprintf("another run (%s) has taken over the journal %s: this one begins nothing more", e.Run, e.Place)
}

// A Writer appends records to a journal. It is safe for concurrent use.
type Writer struct {
	log       statebackend.Log
	exclusive bool // see [statebackend.Log]
	run       string
	fence     uint64

	text []byte // buffer of the last append, used again by the next

	mu     sync.Mutex
	at     history  // the known end of the journal
	broken error    // the error of all later writes; nil: none
	late   [][]byte // outcomes of earlier runs that came in since Open
	idle   sync.Cond
	queue
}

// Open takes over a journal for a run, and returns the records that are still needed, of any run. A lock
// ensures that no live run uses the journal. If a live run uses the journal nevertheless, the journal refuses
// the later intents of that run.
func Open(ctx context.Context, log statebackend.Log, run string) (*Writer, []Record, error) {
	w := &Writer{log: log, exclusive: log.Exclusive(), run: run, queue: newQueue()}
	w.idle.L = &w.mu
	for {
		at, err := read(ctx, log)
		if err != nil {
			return nil, nil, err
		}
		w.at, w.fence = at, at.fence+1
		err = w.append(ctx, header{}, nil, true)
		var taken *statebackend.TakenError
		if errors.As(err, &taken) && ctx.Err() == nil {
			continue // an earlier run appended an outcome in between
		}
		if err != nil {
			return nil, nil, fmt.Errorf("take over the journal: %w", err)
		}
		return w, at.records, nil
	}
}

// Continue returns a Writer, as [Open] does, for a journal that [Look] has read. It makes no request: the first
// append is the takeover. If somebody has written to the journal since, that append and all later ones fail
// with a *statebackend.TakenError. So if the first append succeeds, h has all records.
func Continue(log statebackend.Log, run string, h History) *Writer {
	w := &Writer{log: log, exclusive: log.Exclusive(), run: run, at: h.at, fence: h.at.fence + 1, queue: newQueue()}
	w.idle.L = &w.mu
	return w
}

// WriteLate makes outcomes durable after another run has taken over the journal: it appends them after the
// takeover. It tries again until it succeeds, ctx ends, or the log refuses for another reason.
func (w *Writer) WriteLate(ctx context.Context, records ...[]byte) error {
	for {
		at, err := read(ctx, w.log)
		if err != nil {
			return err
		}
		h := header{Format: Format, Number: at.last + 1, Run: w.run, Fence: w.fence, Prev: at.prev}
		err = w.put(ctx, h, encode(nil, h, records), true)
		var taken *statebackend.TakenError
		if !errors.As(err, &taken) || ctx.Err() != nil {
			return err
		}
	}
}

// Reset drops all records, and writes the given ones. It keeps late outcomes that came in since Open. The
// caller makes sure that no other write is running.
func (w *Writer) Reset(ctx context.Context, records ...[]byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.awaitIdle(); err != nil {
		return err
	}
	if err := w.append(ctx, header{Reset: true}, records, true); err != nil {
		w.broken = err
		return err
	}
	return w.log.Drop(ctx, w.at.last)
}

// Finish ends a journal whose records are not needed any more. Late outcomes that came in since Open are kept
// for the next reader. If a process can outlive its lock, the last segment stays: its number and fence stop a
// process that wakes up later.
func (w *Writer) Finish(ctx context.Context) error {
	if !w.exclusive {
		if err := w.Reset(ctx); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.awaitIdle(); err != nil {
		return err
	}
	w.broken = errors.New("the journal is closed")
	if !w.exclusive {
		return nil
	}
	return w.log.Drop(ctx, w.at.last+1)
}

// awaitIdle waits until no append is running. It returns the error that prevents further appends, if there is
// one. The caller holds w.mu.
func (w *Writer) awaitIdle() error {
	for w.led {
		w.idle.Wait()
	}
	return w.broken
}

// append writes the next segment. If late outcomes of earlier runs came in between, append skips them: the
// journal has a higher fence before them.
func (w *Writer) append(ctx context.Context, h header, records [][]byte, durable bool) error {
	for {
		h.Format, h.Number, h.Run, h.Fence, h.Prev = Format, w.at.last+1, w.run, w.fence, w.at.prev
		kept := records
		if h.Reset { // the caller has not seen the late outcomes
			kept = slices.Concat(records, w.late)
		}
		w.text = encode(w.text[:0], h, kept)
		data := w.text
		err := w.put(ctx, h, data, durable)
		if err == nil {
			w.at.last, w.at.prev, w.at.fence = h.Number, sum(data), max(w.at.fence, h.Fence)
			return nil
		}
		var taken *statebackend.TakenError
		if !errors.As(err, &taken) || w.at.fence < w.fence {
			return err
		}
		if err := w.catchUp(ctx); err != nil {
			return err
		}
	}
}

// catchUp reads the segments that others have written, and fails if one is of a run with a higher fence.
func (w *Writer) catchUp(ctx context.Context) error {
	known := w.at.last
	segments, err := w.log.Segments(ctx, func(s statebackend.Segment) bool { return s.Number <= known+1 })
	if err != nil {
		return err
	}
	at, late := w.at, w.late
	for _, s := range segments {
		if s.Number <= w.at.last {
			continue
		}
		head, lines, err := decode(w.log.Place(), s)
		if err != nil {
			return err
		}
		if head.Fence > w.fence || head.Fence == w.fence && head.Run != w.run {
			return &FencedError{Place: w.log.Place(), Run: head.Run}
		}
		at.last, at.prev = s.Number, sum(s.Data)
		late = append(late, lines...)
	}
	if at.last == w.at.last {
		return &statebackend.DamagedError{Place: w.log.Place(), Number: w.at.last + 1, Reason: "the journal was removed while it was in use"}
	}
	w.at, w.late = at, late
	return nil
}

// attempts is the number of attempts of an append that fails for an unknown reason. firstPause is the first
// pause between two attempts; each further pause is twice as long.
const (
	attempts   = 5
	firstPause = 100 * time.Millisecond
)

// put appends a segment, and tries again while it is not known whether the segment was stored.
func (w *Writer) put(ctx context.Context, h header, data []byte, durable bool) error {
	for attempt, pause := 1, firstPause; ; attempt, pause = attempt+1, 2*pause {
		err := w.log.Append(ctx, h.Number, data, durable)
		var taken *statebackend.TakenError
		var damaged *statebackend.DamagedError
		if err == nil || errors.As(err, &taken) || errors.As(err, &damaged) || attempt == attempts || ctx.Err() != nil {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
	}
}
