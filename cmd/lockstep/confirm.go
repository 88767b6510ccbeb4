package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// confirm asks a person and reports whether the answer is yes.
func (a *app) confirm(question, hint string) bool {
	fmt.Fprintf(a.out, "%s\n  %s\n\n  Enter a value: ", a.print().Bold(question), hint)
	line, err := bufio.NewReader(a.in).ReadString('\n')
	fmt.Fprintln(a.out)
	return (err == nil || err == io.EOF) && strings.TrimSpace(line) == "yes"
}
