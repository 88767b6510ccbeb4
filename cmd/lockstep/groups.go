package main

import (
	"fmt"
	"io"
	"strings"
)

// group is the first word of commands of two words: alone, it lists them.
func group(name, synopsis string, members []command) command {
	return command{name: name, synopsis: synopsis, run: func(a *app, args []string) int {
		list := func(w io.Writer) {
			fmt.Fprintf(w, "Usage: lockstep %s COMMAND [OPTIONS]\n\n  %s.\n\nCommands:\n", name, synopsis)
			for _, c := range members {
				if word, ok := strings.CutPrefix(c.name, name+" "); ok {
					fmt.Fprintf(w, "  %-18s %s\n", word, c.synopsis)
				}
			}
		}
		switch {
		case len(args) == 0:
			list(a.err)
			return 1
		case args[0] == "-h" || args[0] == "-help" || args[0] == "--help":
			list(a.out)
			return 0
		}
		return a.usage("there is no command %q; `lockstep %s -help` lists those that there are", name+" "+args[0], name)
	}}
}
