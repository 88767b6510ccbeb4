package process

import (
	"bytes"
	"strings"
	"sync"
)

// Limits of what is kept of a plugin's standard error.
const (
	keepLines = 12  // before a panic, and of a crash without one
	keepPanic = 40  // lines of a panic
	keepBytes = 400 // of a line
)

// lastWords keeps the last lines that a plugin wrote to standard error: of a Go
// panic its beginning, which says what happened and where. Lines in the log format of
// plugins are not kept: they say what the plugin sends and receives.
type lastWords struct {
	mu      sync.Mutex
	partial []byte
	lines   []string
	panicky bool
}

// Write takes a piece of the plugin's standard error.
func (w *lastWords) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, tail, whole := bytes.Cut(rest, []byte("\n"))
		if room := keepBytes - len(w.partial); room > 0 {
			w.partial = append(w.partial, line[:min(room, len(line))]...)
		}
		if !whole {
			break
		}
		w.add(string(w.partial))
		w.partial = w.partial[:0]
		rest = tail
	}
	return len(p), nil
}

func (w *lastWords) add(line string) {
	line = strings.TrimRight(line, "\r")
	if strings.HasPrefix(line, `{"@`) {
		return
	}
	if !w.panicky && (strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")) {
		w.panicky = true
		w.lines = w.lines[:0]
	}
	if w.panicky {
		if len(w.lines) < keepPanic {
			w.lines = append(w.lines, line)
		}
		return
	}
	if isLog(line) {
		return
	}
	if len(w.lines) == keepLines {
		w.lines = append(w.lines[:0], w.lines[1:]...)
	}
	w.lines = append(w.lines, line)
}

// isLog recognises lines of the standard log package as plugins use it:
// "2006/01/02 15:04:05 [DEBUG] ...".
func isLog(line string) bool {
	for _, level := range []string{"[TRACE]", "[DEBUG]", "[INFO]"} {
		if strings.Contains(line, level) {
			return true
		}
	}
	return false
}

// String returns the lines, without blank ones at the ends.
func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := w.lines
	if len(w.partial) > 0 {
		lines = append(lines[:len(lines):len(lines)], string(w.partial))
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
