package changing

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/provisioning"
)

// TestLocalExec runs commands by a real shell.
func TestLocalExec(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := cli.New(t.Context(), cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, []string{"PATH=/bin:/usr/bin", "A=ours", "B=ours"})
	shell := func(text string) []string { return []string{"/bin/sh", "-c", text} }
	for _, c := range []struct {
		name    string
		command provisioning.Command
		want    []string
		err     string
	}{
		{"both streams, line by line", provisioning.Command{Args: shell("echo one; echo two >&2; printf three")}, []string{"one", "two", "three"}, ""},
		{"the environment is added to", provisioning.Command{Args: shell("echo $A $B $C"), Env: []string{"B=theirs", "C=theirs"}}, []string{"ours theirs theirs"}, ""},
		{"in a directory", provisioning.Command{Args: shell("pwd -P"), Dir: dir}, []string{resolved(t, dir)}, ""},
		{"it fails", provisioning.Command{Args: shell("echo no; exit 3")}, []string{"no"}, "exit status 3"},
		{"no such interpreter", provisioning.Command{Args: []string{"/nonexistent/sh", "a"}}, nil, "fork/exec /nonexistent/sh: no such file or directory"},
		{"there is nothing to read", provisioning.Command{Args: shell("cat; echo end")}, []string{"end"}, ""},
	} {
		var got []string
		err := localExecOf(a)(t.Context(), c.command, func(line string) { got = append(got, line) })
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
		if (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s: %v, want %q", c.name, err, c.err)
		}
	}
}

func resolved(t *testing.T, dir string) string {
	t.Helper()
	out, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestLocalExecInterrupted: a command ends with the run.
func TestLocalExecInterrupted(t *testing.T) {
	t.Parallel()
	a := cli.New(t.Context(), cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, []string{"PATH=/bin:/usr/bin"})
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("asked to stop")
	err := localExecOf(a)(ctx, provisioning.Command{Args: []string{"/bin/sh", "-c", "echo ready; exec sleep 600"}}, func(string) { cancel(stop) })
	if !errors.Is(err, stop) {
		t.Error(err)
	}
}
