package cli

import (
	"errors"
	"fmt"
	"os"
)

// A hintedError says what helps, too.
type hintedError struct {
	error
	hint string
}

func (e *hintedError) Unwrap() error { return e.error }

// Hinted adds what helps to an error.
func Hinted(err error, hint string, args ...any) error {
	return &hintedError{err, fmt.Sprintf(hint, args...)}
}

// Failed reports an error of a command that is not about a configuration.
func (a *App) Failed(err error) int {
	fmt.Fprintf(a.Err, "lockstep: error: %s\n", err)
	var h *hintedError
	if errors.As(err, &h) {
		fmt.Fprintf(a.Err, "lockstep: hint: %s\n", h.hint)
	}
	return 1
}

// Reason returns what is wrong with a file, without repeating its path.
func Reason(err error) string {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
