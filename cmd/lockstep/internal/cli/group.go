package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Group is the first word of commands of two words: alone, it lists them.
func Group(name, synopsis string) Command {
	return Command{Name: name, Synopsis: synopsis, Run: func(a *App, args []string) int {
		switch {
		case len(args) == 0:
			a.list(a.Err, name, synopsis)
			return 1
		case isHelp(args[0]):
			a.list(a.Out, name, synopsis)
			return 0
		}
		return a.Usage("there is no command %q; `lockstep %s -help` lists the commands", name+" "+args[0], name)
	}}
}

// list writes the help of a group: its members by name.
func (a *App) list(w io.Writer, name, synopsis string) {
	fmt.Fprintf(w, "Usage: lockstep %s COMMAND [OPTIONS]\n\n  %s.\n\nCommands:\n", name, synopsis)
	for _, c := range slices.SortedFunc(slices.Values(a.Commands), func(x, y Command) int { return cmp.Compare(x.Name, y.Name) }) {
		if word, ok := strings.CutPrefix(c.Name, name+" "); ok {
			fmt.Fprintf(w, "  %-18s %s\n", word, c.Synopsis)
		}
	}
}

// isHelp reports whether an argument asks for the help of a command.
func isHelp(arg string) bool { return arg == "-h" || arg == "-help" || arg == "--help" }
