package cli

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// Confirm asks a person and reports whether the answer is yes.
func (a *App) Confirm(question, hint string) bool {
	fmt.Fprintf(a.Out, "%s\n  %s\n\n  Enter a value: ", a.Print().Bold(question), hint)
	line, err := a.ReadLine()
	fmt.Fprintln(a.Out)
	return err == nil && strings.TrimSpace(line) == "yes"
}

// MayAsk reports whether a person may be asked: by the option -input, and by TF_INPUT in the
// environment.
func (a *App) MayAsk(input bool) bool {
	if text := a.Getenv("TF_INPUT"); text != "" {
		if allowed, err := strconv.ParseBool(text); err == nil && !allowed {
			return false
		}
	}
	return input
}

// ReadLine reads one line from a person, or from a program. Input without a line break at its end
// may be incomplete, and counts as no answer. An interrupt ends the wait with an error.
func (a *App) ReadLine() (string, error) {
	if a.lines == nil {
		a.lines = bufio.NewReader(a.In)
	}
	return a.typed(func() (string, error) {
		line, err := a.lines.ReadString('\n')
		return strings.TrimRight(line, "\r\n"), err
	})
}

// ReadSecret is ReadLine without an echo on the terminal.
func (a *App) ReadSecret() (string, error) {
	f, ok := a.In.(*os.File)
	if !ok {
		return a.ReadLine()
	}
	fd := int(f.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return a.ReadLine()
	}
	line, err := a.typed(func() (string, error) {
		b, err := term.ReadPassword(fd)
		return string(b), err
	})
	term.Restore(fd, before) // an interrupt leaves it as it was while typing
	fmt.Fprintln(a.Out)
	return line, err
}

// typed waits for read, or an interrupt. After an interrupt the goroutine of read remains until
// the process ends.
func (a *App) typed(read func() (string, error)) (string, error) {
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
	case <-a.Ctx.Done():
		return "", context.Cause(a.Ctx)
	}
}
