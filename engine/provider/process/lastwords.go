package process

import (
	"bytes"
	"strings"
	"sync"
)

// These are the limits of the standard error that is kept.
const (
	keepLines  = 12  // of a crash without a Go panic
	keepPanic  = 10  // lines of a panic's message
	keepPlaces = 5   // places in the source that a panic came from
	keepBytes  = 400 // of a line
)

// lastWords keeps the last lines that a plugin wrote to standard error. For a Go panic it keeps the message and
// the place of the panic. The whole trace is in the log. It does not keep lines in the log formats of plugins:
// they have the content of requests and answers.
type lastWords struct {
	mu      sync.Mutex
	partial []byte
	lines   []string

	panicky bool // a panic has begun
	tracing bool // the trace of its goroutine has begun
	traced  bool // the trace has ended
	places  int
}

// Write adds a part of the plugin's standard error.
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
		w.add(strings.TrimRight(string(w.partial), "\r"))
		w.partial = w.partial[:0]
		rest = tail
	}
	return len(p), nil
}

func (w *lastWords) add(line string) {
	switch {
	case w.panicky:
		w.addPanic(line)
	case strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: "):
		w.panicky = true
		w.lines = append(w.lines[:0], line)
	case isLog(line):
	default:
		if len(w.lines) == keepLines {
			w.lines = append(w.lines[:0], w.lines[1:]...)
		}
		w.lines = append(w.lines, line)
	}
}

// addPanic adds a further line of a panic, after the first. The trace of the goroutine that panicked comes
// first, and ends with an empty line.
func (w *lastWords) addPanic(line string) {
	switch {
	case w.traced:
	case !w.tracing && strings.HasPrefix(line, "goroutine "):
		w.tracing = true
	case !w.tracing:
		if line != "" && len(w.lines) < keepPanic {
			w.lines = append(w.lines, line)
		}
	case line == "":
		w.traced = true
	case strings.HasPrefix(line, "\t") && w.places < keepPlaces:
		place, _, _ := strings.Cut(strings.TrimSpace(line), " +0x")
		if strings.Contains(place, "/runtime/") || strings.HasPrefix(place, "runtime/") {
			break // a line of Go's runtime shows only how the panic was handled
		}
		w.places++
		w.lines = append(w.lines, "  at "+place)
	}
}

// isLog reports whether a line has one of the log formats of plugins: JSON lines of hclog, and lines of the
// standard log package with a level, "2006/01/02 15:04:05 [DEBUG] ...".
func isLog(line string) bool {
	if strings.HasPrefix(line, `{"@`) {
		return true
	}
	for _, level := range []string{"[TRACE]", "[DEBUG]", "[INFO]"} {
		if strings.Contains(line, level) {
			return true
		}
	}
	return false
}

// String returns the kept lines, without blank lines at the beginning and the end.
func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := w.lines
	if len(w.partial) > 0 && !w.panicky {
		lines = append(lines[:len(lines):len(lines)], string(w.partial))
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
