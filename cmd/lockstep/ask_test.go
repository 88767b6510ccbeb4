package main

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// A line that does not end is no answer: it may be a part of one.
func TestReadLine(t *testing.T) {
	t.Parallel()
	a := newApp(t.Context(), streams{in: strings.NewReader("one\r\n\nye"), out: io.Discard, err: io.Discard}, nil)
	for _, want := range []string{"one", ""} {
		if got, err := a.readLine(); got != want || err != nil {
			t.Errorf("readLine() = %q, %v; want %q", got, err, want)
		}
	}
	if got, err := a.readLine(); !errors.Is(err, io.EOF) {
		t.Errorf("readLine() = %q, %v; want the end", got, err)
	}
}
