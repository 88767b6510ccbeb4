package workdir

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// These are the limits of a program that returns a key. OpenTofu waits for the same time.
const (
	keyProgramTimeout = time.Minute
	maxKeyOutput      = 1 << 20 // bytes of its output
	maxKeyErrors      = 2 << 10 // bytes of its standard error output that an error shows
)

// RunKeyProgram runs a program that returns a key for encryption; see encryption.RunProgram. The program runs in the
// working directory, with d's environment, without a shell, and for a limited time. It is for command lines only: a
// pull request could name any program.
func (d *Dir) RunKeyProgram(ctx context.Context, command []string, input []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, keyProgramTimeout, fmt.Errorf("it did not end within %s", keyProgramTimeout))
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env = d.Path, d.Environ
	cmd.Stdin = bytes.NewReader(input)
	cmd.WaitDelay = killedGrace
	stdout, stderr := limited{left: maxKeyOutput}, limited{left: maxKeyErrors}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch cause := context.Cause(ctx); {
	case err == nil && stdout.over:
		return nil, fmt.Errorf("it wrote more than %d bytes", maxKeyOutput)
	case err == nil:
		return stdout.kept, nil
	case cause != nil:
		err = cause
	}
	if text := strings.TrimSpace(string(stderr.kept)); text != "" {
		return nil, fmt.Errorf("%w. It wrote: %s", err, text)
	}
	return nil, err
}

// limited keeps the first bytes that are written to it. It accepts all further bytes, but drops them.
type limited struct {
	kept []byte
	left int // how many more bytes are kept
	over bool
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.kept, l.left, l.over = append(l.kept, p[:n]...), l.left-n, l.over || n < len(p)
	return len(p), nil
}
