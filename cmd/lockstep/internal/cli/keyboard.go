package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// A keyboard reads answers, which a user types or a program writes.
type keyboard struct {
	ctx   context.Context // its end interrupts the wait for an answer
	in    io.Reader
	out   io.Writer
	lines *bufio.Reader // of in
}

// ReadLine reads one line. Input without a line break at its end may be incomplete, so it is an error. An
// interrupt ends the wait with an error.
func (k *keyboard) ReadLine() (string, error) {
	return k.typed(func() (string, error) {
		line, err := k.lines.ReadString('\n')
		return strings.TrimRight(line, "\r\n"), err
	})
}

// ReadSecret is like ReadLine, but the terminal does not show the input.
func (k *keyboard) ReadSecret() (string, error) {
	f, ok := k.in.(*os.File)
	if !ok {
		return k.ReadLine()
	}
	fd := int(f.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return k.ReadLine()
	}
	line, err := k.typed(func() (string, error) {
		b, err := term.ReadPassword(fd)
		return string(b), err
	})
	term.Restore(fd, before) // an interrupt leaves it as it was while typing
	fmt.Fprintln(k.out)
	return line, err
}

// typed calls the function read in a goroutine, and waits until read returns or an interrupt comes. After an
// interrupt, the goroutine remains until the process ends.
func (k *keyboard) typed(read func() (string, error)) (string, error) {
	type result struct {
		line string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		line, err := read()
		done <- result{line, err}
	}()
	select {
	case r := <-done:
		return r.line, r.err
	case <-k.ctx.Done():
		return "", context.Cause(k.ctx)
	}
}
