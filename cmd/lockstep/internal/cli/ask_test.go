package cli

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// A line that does not end is no answer: it may be a part of one.
func TestReadLine(t *testing.T) {
	t.Parallel()
	a := New(t.Context(), Streams{In: strings.NewReader("one\r\n\nye"), Out: io.Discard, Err: io.Discard}, nil)
	for _, want := range []string{"one", ""} {
		if got, err := a.ReadLine(); got != want || err != nil {
			t.Errorf("readLine() = %q, %v; want %q", got, err, want)
		}
	}
	if got, err := a.ReadLine(); !errors.Is(err, io.EOF) {
		t.Errorf("readLine() = %q, %v; want the end", got, err)
	}
}
