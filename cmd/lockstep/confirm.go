package main

import (
	"fmt"
	"strings"
)

// confirm asks a person and reports whether the answer is yes.
func (a *app) confirm(question, hint string) bool {
	fmt.Fprintf(a.out, "%s\n  %s\n\n  Enter a value: ", a.print().Bold(question), hint)
	line, err := a.readLine()
	fmt.Fprintln(a.out)
	return err == nil && strings.TrimSpace(line) == "yes"
}
