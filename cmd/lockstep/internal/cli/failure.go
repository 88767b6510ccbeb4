package cli

import (
	"errors"
	"fmt"
	"os"
)

// A hintedError is an error with a hint that says how to fix the cause.
type hintedError struct {
	error
	hint string
}

func (e *hintedError) Unwrap() error { return e.error }

// Hinted adds a hint to an error. args are the values for hint, as for fmt.Sprintf.
func Hinted(err error, hint string, args ...any) error {
	return &hintedError{err, fmt.Sprintf(hint, args...)}
}

// HasHint reports whether an error has a hint.
func HasHint(err error) bool { return errors.As(err, new(*hintedError)) }

// Failed reports an error that is not about a configuration, with its hint, and returns the exit code.
func (a *App) Failed(err error) int {
	fmt.Fprintf(a.Err, "lockstep: error: %s\n", err)
	var h *hintedError
	if errors.As(err, &h) {
		fmt.Fprintf(a.Err, "lockstep: hint: %s\n", h.hint)
	}
	return 1
}

// Reason returns the cause of a file error, without the path.
func Reason(err error) string {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
