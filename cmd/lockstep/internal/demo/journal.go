package demo

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// intent is the text by which a story recognizes the journal entry that is written just before a change.
const intent = `"kind":"intent"`

// A moment is an entry in the journal of an apply at which a story makes something happen. The apply waits
// until that is done.
type moment struct {
	mu     sync.Mutex
	texts  []string // texts in the entry; nil means no moment
	happen func()
	// pace is the minimum duration of each change.
	pace time.Duration
}

// at sets what happens at the moment: the function happen is called once, after the first journal entry that
// contains all the texts.
func (m *moment) at(happen func(), texts ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.texts, m.happen = texts, happen
}

// written is called with the bytes appended to a journal. It calls the function happen if they contain the
// awaited entry, and slows down changes.
func (m *moment) written(data []byte) {
	if happen := m.matching(data); happen != nil {
		happen()
	}
	time.Sleep(m.pace * time.Duration(strings.Count(string(data), intent))) // one append may have the intents of several changes
}

// matching returns the function happen if data contains the awaited entry; nil otherwise.
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

// watchedStates returns a backend with local state files and file locks of the operating system, which end
// with their process. The backend passes each write to a journal on to the moment m.
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
