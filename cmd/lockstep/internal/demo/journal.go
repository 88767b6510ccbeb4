package demo

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// intent is a text in the journal entries that an apply writes just before each change. Stories search for it.
const intent = `"kind":"intent"`

// A moment is a point in an apply at which a story makes something happen, such as a push. A journal entry of
// the apply marks the point. The apply waits until the story has done its part.
type moment struct {
	mu     sync.Mutex
	texts  []string // texts in the entry; nil means no moment
	happen func()
	// planned is called for each object that is planned; nil for nothing. The plan waits for it.
	planned func()
	// pace is how long each change takes after its intent is in the journal. If the process is killed during that time,
	// it is unknown whether the change was made. After the moment, a change must take a turn from turns before it begins,
	// so that few changes are in progress at a time. taken has the changes that hold a turn.
	pace  time.Duration
	past  atomic.Bool
	turns chan struct{}
	taken sync.Map // by address
}

// watched is how many changes a [moment] with a pace allows at the same time, so that a user can watch them.
const watched = 2

// whilePlanning sets the function that is called for each object that is planned from now on.
func (m *moment) whilePlanning(planned func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.planned = planned
}

// event lets a few changes begin at a time, and calls planned; it is an events.Listener.
func (m *moment) event(e events.Event) {
	switch e.Kind {
	case events.Planned:
		m.mu.Lock()
		planned := m.planned
		m.mu.Unlock()
		if planned != nil {
			planned()
		}
	case events.ApplyStart:
		if m.past.Load() {
			m.turns <- struct{}{}
			m.taken.Store(e.Addr.String(), true)
		}
	case events.ApplyDone, events.ApplyFailed:
		if _, ok := m.taken.LoadAndDelete(e.Addr.String()); ok {
			<-m.turns
		}
	}
}

// at sets the function happen, which is called once: after the first journal entry that contains all of the
// texts.
func (m *moment) at(happen func(), texts ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.texts, m.happen = texts, happen
}

// written is called with the bytes that were appended to a journal. It calls the function happen if they
// contain the journal entry for which m waits. It also makes changes slower.
func (m *moment) written(data []byte) {
	if happen := m.matching(data); happen != nil {
		happen()
	}
	if strings.Contains(string(data), intent) {
		time.Sleep(m.pace)
	}
}

// matching returns the function happen if data contains the journal entry for which m waits; otherwise nil.
func (m *moment) matching(data []byte) func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.texts) == 0 {
		return nil
	}
	for line := range strings.Lines(string(data)) {
		found := true
		for _, text := range m.texts {
			found = found && strings.Contains(line, text)
		}
		if found {
			m.texts = nil
			return m.happen
		}
	}
	return nil
}

// watchedStates returns a backend with local state files. Their locks are file locks of the operating system,
// which end with the process. The backend calls m with the data of each write to a journal.
func watchedStates(states executor.BackendFunc, m *moment) executor.BackendFunc {
	return func(ctx context.Context, j jobs.Job, s *workdir.Settings) (statebackend.Backend, diags.Diagnostics) {
		b, ds := states(ctx, j, s)
		if ds.HasErrors() {
			return nil, ds
		}
		return watchedBackend{b, m}, ds
	}
}

type watchedBackend struct {
	statebackend.Backend
	moment *moment
}

// Open implements statebackend.Backend.
func (b watchedBackend) Open(name string) (statebackend.Workspace, error) {
	w, err := b.Backend.Open(name)
	if err != nil {
		return nil, err
	}
	return watchedState{w, w.(statebackend.Journaled), b.moment}, nil
}

type watchedState struct {
	statebackend.Workspace
	journaled statebackend.Journaled
	moment    *moment
}

// Journal implements statebackend.Journaled.
func (s watchedState) Journal() statebackend.Log { return watchedLog{s.journaled.Journal(), s.moment} }

type watchedLog struct {
	statebackend.Log
	moment *moment
}

// Append implements statebackend.Log.
func (l watchedLog) Append(ctx context.Context, number uint64, data []byte, durable bool) error {
	err := l.Log.Append(ctx, number, data, durable)
	if err == nil {
		l.moment.written(data)
	}
	return err
}
