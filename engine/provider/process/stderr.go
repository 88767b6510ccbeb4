package process

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
)

// A logLines is the standard error of a plugin for go-plugin's logger, which expects lines of hclog as JSON objects and
// anything else as text. A JSON object that is no line of hclog is marked as text: go-plugin 1.8.0 ends this process at some
// of them.
type logLines struct {
	io.Closer
	from *bufio.Reader
	rest []byte
	part bool // rest continues a line that is longer than the buffer
}

// mark is the beginning of a line that looks like JSON and is not for the logger.
const mark = "? "

func newLogLines(r io.ReadCloser) io.ReadCloser {
	return &logLines{Closer: r, from: bufio.NewReaderSize(r, 64<<10)}
}

// Read implements io.Reader.
func (l *logLines) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		line, err := l.from.ReadSlice('\n')
		if len(line) == 0 && err != nil {
			return 0, err
		}
		l.rest = line
		if !l.part && !logged(line) {
			l.rest = append([]byte(mark), line...)
		}
		l.part = !bytes.HasSuffix(line, []byte("\n"))
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// logged reports whether a line is text, or a line of hclog. Source: https://github.com/hashicorp/go-hclog, intlogger.go
func logged(line []byte) bool {
	line = bytes.TrimSpace(line)
	if !bytes.HasPrefix(line, []byte("{")) || !json.Valid(line) {
		return true
	}
	var entry struct {
		Level   *string `json:"@level"`
		Message *string `json:"@message"`
		Time    *string `json:"@timestamp"`
	}
	return json.Unmarshal(line, &entry) == nil && entry.Level != nil && entry.Message != nil
}
