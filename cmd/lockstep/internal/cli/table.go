package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Command is one sub-command. Commands of two words have a space in their name.
type Command struct {
	Name     string
	Synopsis string
	Main     bool // listed first
	Run      func(a *App, args []string) int
}

// A Table has all commands, as help lists them.
type Table []Command

// help lists the commands.
func (t Table) help(w io.Writer) {
	fmt.Fprint(w, "Usage: lockstep [-chdir=DIR] COMMAND [OPTIONS]\n\nMain commands:\n")
	for _, main := range []bool{true, false} {
		if !main {
			fmt.Fprint(w, "\nAll other commands:\n")
		}
		for _, c := range t {
			if c.Main == main {
				fmt.Fprintf(w, "  %-22s %s\n", c.Name, c.Synopsis)
			}
		}
	}
	fmt.Fprint(w, "\nGlobal options (before the command):\n  -chdir=DIR         work in another directory\n  -help              this text; after a command, its options\n  -version           an alias for the version command\n")
}

// suggest returns a hint at the command with a similar name, or "".
func (t Table) suggest(name string) string {
	for _, c := range t {
		if strings.HasPrefix(c.Name, name) || strings.HasPrefix(name, c.Name) {
			return fmt.Sprintf(" (did you mean %q?)", c.Name)
		}
	}
	return ""
}

// list writes the help of a group: its members by name.
func (t Table) list(w io.Writer, name, synopsis string) {
	fmt.Fprintf(w, "Usage: lockstep %s COMMAND [OPTIONS]\n\n  %s.\n\nCommands:\n", name, synopsis)
	for _, c := range slices.SortedFunc(slices.Values(t), func(x, y Command) int { return cmp.Compare(x.Name, y.Name) }) {
		if word, ok := strings.CutPrefix(c.Name, name+" "); ok {
			fmt.Fprintf(w, "  %-18s %s\n", word, c.Synopsis)
		}
	}
}
