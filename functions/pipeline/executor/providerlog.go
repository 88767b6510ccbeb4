package executor

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
)

const (
	// logLevel is the level at which providers log, as the variable TF_LOG of a plugin.
	logLevel = "TF_LOG=INFO"
	// logPerSecond is the maximum number of lines that are parsed in one second. Further lines are only
	// counted.
	logPerSecond = 100
)

// A providerLog keeps the latest log lines of all providers of a run: the JSON lines of hclog on the standard error of
// their processes. Providers may write anything, in any amount.
type providerLog struct {
	mu     sync.Mutex
	lines  []comment.LogLine
	left   int       // lines that were left out
	sealed bool      // A secret was split over several lines. No line is shown from then on.
	second time.Time // the beginning of a second
	looked int       // lines since then
}

// process returns a writer for the standard error of one process.
func (l *providerLog) process() io.Writer { return &logWriter{log: l} }

// A logWriter divides the standard error of a process into lines.
type logWriter struct {
	log     *providerLog
	partial []byte // at most longestLine bytes, and one more if the line is longer
}

// longestLine is the maximum size of a line that is parsed, in bytes.
const longestLine = 2 * comment.MaxLogText

// Write implements io.Writer.
func (w *logWriter) Write(p []byte) (int, error) {
	for part := range bytes.Lines(p) {
		line, whole := bytes.CutSuffix(part, []byte("\n"))
		w.partial = append(w.partial, line[:min(len(line), longestLine+1-len(w.partial))]...)
		if whole {
			w.log.add(w.partial)
			w.partial = w.partial[:0]
		}
	}
	return len(p), nil
}

func (l *providerLog) add(line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if now.Sub(l.second) >= time.Second {
		l.second, l.looked = now, 0
	}
	if l.looked++; l.looked > logPerSecond {
		l.left++
		return
	}
	var e struct {
		Level   string `json:"@level"`
		Module  string `json:"@module"`
		Message string `json:"@message"`
	}
	if len(line) > longestLine {
		l.left++
		return
	}
	// The lines of go-plugin itself, such as "configuring server automatic mTLS", have no module.
	if json.Unmarshal(line, &e) != nil || e.Module == "" || e.Level != "info" && e.Level != "warn" && e.Level != "error" {
		return
	}
	if l.lines = append(l.lines, comment.LogLine{At: now, Level: e.Level, From: e.Module, Text: e.Message}); len(l.lines) > comment.MaxLogLines {
		l.left += len(l.lines) - comment.MaxLogLines
		l.lines = append(l.lines[:0], l.lines[len(l.lines)-comment.MaxLogLines:]...)
	}
}

// seal hides all lines from now on if o hides them.
func (l *providerLog) seal(o comment.Ongoing) {
	if len(o.Log) > 0 && o.Log[0].Text == comment.SplitSecret {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.sealed = true
	}
}

// latest returns the lines that are kept, and how many others there were.
func (l *providerLog) latest() ([]comment.LogLine, int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := append([]comment.LogLine(nil), l.lines...)
	if l.sealed {
		for i := range out {
			out[i].Text = comment.SplitSecret
		}
	}
	return out, l.left
}
