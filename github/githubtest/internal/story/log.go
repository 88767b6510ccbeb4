package story

import (
	"slices"
	"sync"
	"time"
)

// Epoch is the time at which every story begins.
var Epoch = time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)

// A Log is the clock and the edits so far. It is safe for concurrent use.
type Log struct {
	onEdit func(Edit)
	now    func() time.Time // nil for the story's own clock

	mu    sync.Mutex
	clock time.Time
	ids   int64
	edits []Edit
}

// New returns a Log. onEdit, which may be nil, is called with every edit. now is its clock, of which
// whole seconds count, as on GitHub; with nil it is at [Epoch], and moves on with each edit.
func New(onEdit func(Edit), now func() time.Time) *Log {
	return &Log{onEdit: onEdit, now: now, clock: Epoch, ids: 1000}
}

// Now returns the time in the story.
func (l *Log) Now() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.time()
}

func (l *Log) time() time.Time {
	if l.now != nil {
		return l.now().UTC().Truncate(time.Second)
	}
	return l.clock
}

// Tick moves the story's own clock on by a minute, and returns the time.
func (l *Log) Tick() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clock = l.clock.Add(time.Minute)
	return l.time()
}

// NextID returns a number that nothing in the story has yet.
func (l *Log) NextID() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ids++
	return l.ids
}

// Note adds an edit, at the time that it is now.
func (l *Log) Note(e Edit) {
	l.mu.Lock()
	e.At = l.time()
	l.edits = append(l.edits, e)
	l.mu.Unlock()
	if l.onEdit != nil {
		l.onEdit(e)
	}
}

// Edits returns all edits so far.
func (l *Log) Edits() []Edit {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.edits)
}

// Lines returns all edits so far as lines of text.
func (l *Log) Lines() []string {
	var out []string
	for _, e := range l.Edits() {
		out = append(out, e.String())
	}
	return out
}
