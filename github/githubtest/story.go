package githubtest

import (
	"slices"
	"sync"
	"time"
)

// epoch is the time at which the fake's own clock starts.
var epoch = time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)

// A storyLog is the clock and the list of edits so far. It is safe for concurrent use.
type storyLog struct {
	onEdit func(Edit)
	now    func() time.Time // nil for the story's own clock

	mu    sync.Mutex
	clock time.Time
	ids   int64
	edits []Edit
}

// newLog returns a storyLog. onEdit, which may be nil, is called with every edit. now is the clock, rounded
// down to seconds as on GitHub. If now is nil, the clock starts at [epoch] and advances with each edit.
func newLog(onEdit func(Edit), now func() time.Time) *storyLog {
	return &storyLog{onEdit: onEdit, now: now, clock: epoch, ids: 1000}
}

// Now returns the time of the clock.
func (l *storyLog) Now() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.time()
}

func (l *storyLog) time() time.Time {
	if l.now != nil {
		return l.now().UTC().Truncate(time.Second)
	}
	return l.clock
}

// Tick advances the log's own clock by a minute, and returns the time.
func (l *storyLog) Tick() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clock = l.clock.Add(time.Minute)
	return l.time()
}

// nextID returns a number that no object has yet.
func (l *storyLog) nextID() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ids++
	return l.ids
}

// note records an edit, dated now.
func (l *storyLog) note(e Edit) {
	l.mu.Lock()
	e.At = l.time()
	l.edits = append(l.edits, e)
	l.mu.Unlock()
	if l.onEdit != nil {
		l.onEdit(e)
	}
}

// Edits returns all edits so far.
func (l *storyLog) Edits() []Edit {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.edits)
}

// Lines returns all edits so far as lines of text.
func (l *storyLog) Lines() []string {
	var out []string
	for _, e := range l.Edits() {
		out = append(out, e.String())
	}
	return out
}
