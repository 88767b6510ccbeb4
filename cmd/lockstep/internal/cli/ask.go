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

// MayAsk reports whether a person may be asked: the option -input says so, and the
// environment does not object.
func (a *App) MayAsk(input bool) bool {
	if text := a.Getenv("TF_INPUT"); text != "" {
		if allowed, err := strconv.ParseBool(text); err == nil && !allowed {
			return false
		}
	}
	return input
}

// ReadLine reads what a person types, or a program writes, up to the end of the line: what
// ends before that is no answer, since it may be part of one. It gives up when the run is
// interrupted: nobody will answer then.
func (a *App) ReadLine() (string, error) {
	if a.lines == nil {
		a.lines = bufio.NewReader(a.In)
	}
	return a.typed(func() (string, error) {
		line, err := a.lines.ReadString('\n')
		return strings.TrimRight(line, "\r\n"), err
	})
}

// readSecret is readLine without showing what is typed.
func (a *App) readSecret() (string, error) {
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

// typed waits for read, or an interrupt. The goroutine may outlive that, and ends
// with the process.
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
