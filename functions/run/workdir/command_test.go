package workdir

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLineWriter splits what is written in any pieces.
func TestLineWriter(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxLine)
	for _, c := range []struct {
		pieces, want []string
	}{
		{nil, nil},
		{[]string{"a\n"}, []string{"a"}},
		{[]string{"a", "b\nc", "\r\n\nd"}, []string{"ab", "c", "", "d"}},
		{[]string{long, "y\n"}, []string{long, "y"}},
	} {
		var got []string
		w := lineWriter{line: func(s string) { got = append(got, s) }}
		for _, p := range c.pieces {
			io.WriteString(&w, p)
		}
		w.end()
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q (-want +got)\n%s", c.pieces, diff)
		}
	}
}
