package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// mayAsk reports whether a person may be asked: the option -input says so, and the
// environment does not object.
func (a *app) mayAsk(input bool) bool {
	if text := a.getenv("TF_INPUT"); text != "" {
		if allowed, err := strconv.ParseBool(text); err == nil && !allowed {
			return false
		}
	}
	return input
}

// readLine reads what a person types, or a program writes, up to the end of the line: what
// ends before that is no answer, since it may be part of one. It gives up when the run is
// interrupted: nobody will answer then.
func (a *app) readLine() (string, error) {
	if a.lines == nil {
		a.lines = bufio.NewReader(a.in)
	}
	return a.typed(func() (string, error) {
		line, err := a.lines.ReadString('\n')
		return strings.TrimRight(line, "\r\n"), err
	})
}

// readSecret is readLine without showing what is typed.
func (a *app) readSecret() (string, error) {
	f, ok := a.in.(*os.File)
	if !ok {
		return a.readLine()
	}
	fd := int(f.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return a.readLine()
	}
	line, err := a.typed(func() (string, error) {
		b, err := term.ReadPassword(fd)
		return string(b), err
	})
	term.Restore(fd, before) // an interrupt leaves it as it was while typing
	fmt.Fprintln(a.out)
	return line, err
}

// typed waits for read, or an interrupt. The goroutine may outlive that, and ends
// with the process.
func (a *app) typed(read func() (string, error)) (string, error) {
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
	case <-a.ctx.Done():
		return "", context.Cause(a.ctx)
	}
}

// askVariables asks for the variables that have no value, if that is allowed. Who answers
// may be a program as well; variables that it has no answer to stay without a value.
func (a *app) askVariables(root *config.Content, sources []config.VariableSource, input bool) ([]config.VariableSource, diags.Diagnostics) {
	if !a.mayAsk(input) {
		return sources, nil
	}
	unset := config.Unset(root, sources)
	if len(unset) == 0 {
		return sources, nil
	}
	typed := config.VariableSource{Origin: config.FromPrompt, Literals: map[string]string{}}
	for _, v := range unset {
		line, err := a.askVariable(v)
		fmt.Fprintln(a.out)
		switch {
		case errors.Is(err, io.EOF):
			continue
		case err != nil:
			return sources, diags.Errorf(&v.Range, "No value for required variable",
				"The variable %q has no value, and none was typed in (%s). Use the option -var or -var-file, the environment variable TF_VAR_%s or a .tfvars file.", v.Name, err, v.Name)
		}
		typed.Literals[v.Name] = line
	}
	return append(sources, typed), nil
}

// askVariable asks for a variable's value.
func (a *app) askVariable(v *config.Variable) (string, error) {
	fmt.Fprintf(a.out, "%s\n", a.print().Bold("var."+v.Name))
	if text := strings.TrimSpace(v.Description); text != "" {
		fmt.Fprintf(a.out, "  %s\n\n", strings.ReplaceAll(text, "\n", "\n  "))
	}
	fmt.Fprintf(a.out, "  %s ", a.print().Bold("Enter a value:"))
	if v.Sensitive {
		return a.readSecret()
	}
	return a.readLine()
}
