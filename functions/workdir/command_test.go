package workdir

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/provisioning"
)

// A command is killed at once when the run is cancelled, whatever it has started goes on with.
func TestCommandIsKilled(t *testing.T) {
	t.Parallel()
	why := errors.New("cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	c := provisioning.Command{Args: []string{"/bin/sh", "-c", "trap '' INT; echo begun; sleep 5; echo never"}}
	var began time.Time
	err := RunCommand(ctx, ".", []string{"PATH=/bin:/usr/bin"}, c, func(line string) {
		if line != "begun" {
			t.Errorf("output after the end: %s", line)
		}
		began = time.Now()
		cancel(why)
	})
	if took := time.Since(began); !errors.Is(err, why) || took > 2*time.Second {
		t.Errorf("%v after %s", err, took)
	}
}

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
