package cli

import (
	"fmt"
	"strconv"
	"strings"
)

// Confirm asks the user a question, and reports whether the answer is yes.
func (a *App) Confirm(question, hint string) bool {
	fmt.Fprintf(a.Out, "%s\n  %s\n\n  Enter a value: ", a.Print().Bold(question), hint)
	line, err := a.ReadLine()
	fmt.Fprintln(a.Out)
	return err == nil && strings.TrimSpace(line) == "yes"
}

// MayAsk reports whether the user may be asked: neither the option -input nor TF_INPUT in the environment
// forbids it.
func (a *App) MayAsk(input bool) bool {
	if text := a.Getenv("TF_INPUT"); text != "" {
		if allowed, err := strconv.ParseBool(text); err == nil && !allowed {
			return false
		}
	}
	return input
}
